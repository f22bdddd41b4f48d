/** What to do with tables that are known and give no arrivals. */
const OTHERS: readonly { readonly columns: readonly string[]; readonly text: string }[] = [
  {
    columns: ['hashowner', 'hashapp', 'hashfunction', '1', '2'],
    text:
      'these are counts a minute (Azure Functions 2019), and no arrivals: write a row for each of them with ' +
      'its time_s, spread over its minute',
  },
  {
    columns: ['end_timestamp', 'duration'],
    text:
      'these are the ends of calls (Azure Functions 2021): write a column time_s, end_timestamp - duration, and ' +
      'sort by it',
  },
];

/** Of a header in lower case without arrival times: what it is, and the way on; undefined: nobody knows. */
export function otherFormat(names: readonly string[]): string | undefined {
  return OTHERS.find(({ columns }) => columns.every((column) => names.includes(column)))?.text;
}
