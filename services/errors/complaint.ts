/** What goes wrong beside answers, in words, for the log. */
export type Complaint = (message: string, details: Readonly<Record<string, unknown>>) => void;
