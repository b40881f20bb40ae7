export type Severity = 'error' | 'warning';
