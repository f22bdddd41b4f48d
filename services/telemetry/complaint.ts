/** What goes wrong on the query path, in words, for the log. */
export type Complaint = (message: string, details: Readonly<Record<string, unknown>>) => void;
