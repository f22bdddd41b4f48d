export { ArrivalRecorder, type RecordingRequest } from './arrivalRecorder.js';
