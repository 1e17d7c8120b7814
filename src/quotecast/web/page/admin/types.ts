// The answers of /api/admin, as far as the page shows them. The routes are in no client: nobody else needs them.

export interface Session {
  readonly email: string;
  readonly has_totp: boolean;
  readonly expires_at: string;
}

export interface FeedReport {
  readonly feed: string;
  readonly provider: string;
  readonly simulated: boolean;
  readonly state: string;
  readonly epoch: string;
  readonly seq: number;
  readonly symbols: number;
  readonly silence_seconds: number;
  readonly delay_seconds: number;
  readonly overdue: boolean;
}

export interface SlowClient {
  readonly connection: string;
  readonly feed: string;
  readonly transport: string;
  readonly address: string;
  readonly key: string;
  readonly plan: string;
  readonly paused_seconds: number;
  readonly unsent_bytes: number;
  readonly behind: number;
}

export interface WorkerReport {
  readonly sockets: number;
  readonly http: number;
  readonly requests: number;
  readonly requests_per_second: number;
  readonly lag_seconds: number;
  readonly limits_alone: boolean;
  readonly feeds: readonly FeedReport[];
  readonly keys: readonly { readonly key: string; readonly sockets: number; readonly requests: number }[];
  readonly slow: readonly SlowClient[];
  readonly limits: readonly { readonly group: string; readonly admitted: number; readonly refused: number }[];
  readonly handshakes_refused: Readonly<Record<string, number>>;
  readonly expelled: number;
  readonly logins: Readonly<Record<string, number>>;
}

export interface LedFeed {
  readonly feed: string;
  readonly standing: string;
  readonly since: number;
  readonly epochs: number;
  readonly seq: number;
  readonly failures: number;
  readonly heard_at: number;
}

export interface Counted {
  readonly of: readonly string[];
  readonly count: number;
}

export interface IngestReport {
  readonly lease_seconds: number;
  readonly feeds: readonly LedFeed[];
  readonly connections: readonly Counted[];
  readonly calls: readonly Counted[];
  readonly refusals: readonly Counted[];
  readonly budgets: readonly Counted[];
}

export interface Report {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly started_at: number;
  readonly at: number;
  readonly worker: WorkerReport | null;
  readonly ingest: IngestReport | null;
}

export interface Overview {
  readonly at: string;
  readonly available: boolean;
  readonly processes: readonly Report[];
  readonly keys: Readonly<Record<string, string>>;
}

export interface UserShown {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly disabled: boolean;
  readonly created_at: string;
  readonly operator: boolean;
  readonly sessions: number;
  readonly keys: number;
}

export interface KeyOfUser {
  readonly id: string;
  readonly name: string;
  readonly plan: string;
  readonly email: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly user_disabled: boolean;
}

export interface KeyUsage {
  readonly key_id: string;
  readonly name: string;
  readonly email: string;
  readonly requests: number;
  readonly refused: number;
  readonly socket_minutes: number;
  readonly quotes: number;
  readonly bytes: number;
}

export interface FeedDay {
  readonly feed: string;
  readonly date: string;
  readonly minutes: number;
  readonly figures: {
    readonly covered: number;
    readonly staleSeconds: number;
    readonly refused: Readonly<Record<string, number>>;
    readonly ageP99Ms: number | null;
  };
}

export interface ActionShown {
  readonly id: number;
  readonly happened_at: string;
  readonly via: string;
  readonly actor: string;
  readonly address: string;
  readonly action: string;
  readonly target: string;
  readonly detail: string;
  readonly outcome: string;
  readonly email: string;
  readonly key_name: string;
}
