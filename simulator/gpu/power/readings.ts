/** What a device's sensors show; energies only grow. Plain data. */
export interface DeviceReadings {
  readonly atNs: number;
  /** At this moment. */
  readonly powerWatts: number;
  /** Over the last tens of milliseconds, as the limit sees it. */
  readonly averagePowerWatts: number;
  readonly powerLimitWatts: number;
  readonly energyMillijoules: number;
  readonly smClockHz: number;
  readonly applicationClockHz: number;
  readonly memoryClockHz: number;
  /** Why the SM clock is below its highest. */
  readonly throttle: 'none' | 'applicationClock' | 'powerCap';
}
