-- The tables of release 0.1.0. Later migrations change them; src/quotecast/database/tables.py declares the result.

CREATE TABLE users (
    id varchar(24) PRIMARY KEY CONSTRAINT users_id_is_hexadecimal CHECK (id ~ '^[0-9a-f]{24}$'),
    name varchar(100) NOT NULL CONSTRAINT users_name_is_trimmed CHECK (name <> '' AND name = btrim(name)),
    -- Of ASCII only: Python and PostgreSQL know different versions of Unicode's lower case.
    email varchar(254) NOT NULL UNIQUE
        CONSTRAINT users_email_is_lower_case CHECK (email <> '' AND email !~ '[A-Z]'),
    password_hash text NOT NULL,
    token_version integer NOT NULL DEFAULT 0
        CONSTRAINT users_token_version_is_not_negative CHECK (token_version >= 0),
    disabled boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE sessions (
    id varchar(24) PRIMARY KEY CONSTRAINT sessions_id_is_hexadecimal CHECK (id ~ '^[0-9a-f]{24}$'),
    user_id varchar(24) NOT NULL REFERENCES users ON DELETE CASCADE,
    device varchar(200) NOT NULL,
    address varchar(50) NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_of_user ON sessions (user_id, id);

CREATE TABLE idempotency_keys (
    id bigserial PRIMARY KEY,
    user_id varchar(24) NOT NULL REFERENCES users ON DELETE CASCADE,
    key varchar(255) NOT NULL CONSTRAINT idempotency_keys_key_is_not_empty CHECK (key <> ''),
    fingerprint varchar(64) NOT NULL,
    answer text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT idempotency_keys_belong_to_users UNIQUE (user_id, key)
);

-- The upper bounds of numbers also exclude infinity and NaN, which PostgreSQL orders above every number.
CREATE TABLE holdings (
    id varchar(24) PRIMARY KEY CONSTRAINT holdings_id_is_hexadecimal CHECK (id ~ '^[0-9a-f]{24}$'),
    user_id varchar(24) NOT NULL REFERENCES users ON DELETE CASCADE,
    ticker varchar(40) NOT NULL CONSTRAINT holdings_ticker_is_plain CHECK (ticker ~ '^[A-Za-z0-9./-]+$'),
    shares numeric NOT NULL CONSTRAINT holdings_shares_are_in_bounds
        CHECK (shares > 0 AND shares < 1e12 AND scale(shares) <= 8),
    avg_cost numeric NOT NULL CONSTRAINT holdings_cost_is_in_bounds
        CHECK (avg_cost >= 0 AND avg_cost < 1e12 AND scale(avg_cost) <= 8),
    bought_at date NOT NULL,
    currency varchar(3) NOT NULL CONSTRAINT holdings_currency_is_a_code CHECK (currency ~ '^[A-Z]{3}$'),
    created_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX holdings_user_id ON holdings (user_id);

CREATE TABLE layouts (
    user_id varchar(24) PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    -- Not jsonb, which reorders keys and refuses \u0000.
    layout json NOT NULL CONSTRAINT layouts_are_objects CHECK (json_typeof(layout) = 'object')
        CONSTRAINT layouts_are_small CHECK (octet_length(layout::text) <= 65536),
    version integer NOT NULL CONSTRAINT layouts_version_is_positive CHECK (version > 0),
    updated_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- A user's first watchlist. Further ones are in watchlists and listed_symbols.
CREATE TABLE watchlist (
    id bigserial PRIMARY KEY,
    user_id varchar(24) NOT NULL REFERENCES users ON DELETE CASCADE,
    kind varchar(6) NOT NULL CONSTRAINT watchlist_kind_is_known CHECK (kind IN ('stock', 'crypto', 'doviz')),
    ticker varchar(40) NOT NULL CONSTRAINT watchlist_ticker_is_plain CHECK (ticker ~ '^[A-Za-z0-9./-]+$'),
    added_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT watchlist_names_a_symbol_once UNIQUE (user_id, kind, ticker)
);

CREATE TABLE watchlists (
    id varchar(24) PRIMARY KEY CONSTRAINT watchlists_id_is_hexadecimal CHECK (id ~ '^[0-9a-f]{24}$'),
    user_id varchar(24) NOT NULL REFERENCES users ON DELETE CASCADE,
    name varchar(60) NOT NULL CONSTRAINT watchlists_name_is_trimmed CHECK (name <> '' AND name = btrim(name)),
    position integer NOT NULL CONSTRAINT watchlists_position_is_not_negative CHECK (position >= 0),
    is_default boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT watchlists_have_names_of_their_own UNIQUE (user_id, name)
);

CREATE TABLE listed_symbols (
    id bigserial PRIMARY KEY,
    user_id varchar(24) NOT NULL REFERENCES users ON DELETE CASCADE,
    list_id varchar(24) NOT NULL REFERENCES watchlists ON DELETE CASCADE,
    kind varchar(6) NOT NULL CONSTRAINT listed_symbols_kind_is_known CHECK (kind IN ('stock', 'crypto', 'doviz')),
    ticker varchar(40) NOT NULL CONSTRAINT listed_symbols_ticker_is_plain CHECK (ticker ~ '^[A-Za-z0-9./-]+$'),
    added_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT listed_symbols_name_a_symbol_once UNIQUE (list_id, kind, ticker)
);
CREATE INDEX listed_symbols_user_id ON listed_symbols (user_id);

CREATE TABLE alerts (
    id varchar(24) PRIMARY KEY CONSTRAINT alerts_id_is_hexadecimal CHECK (id ~ '^[0-9a-f]{24}$'),
    user_id varchar(24) NOT NULL REFERENCES users ON DELETE CASCADE,
    kind varchar(6) NOT NULL CONSTRAINT alerts_kind_is_known CHECK (kind IN ('stock', 'crypto', 'doviz')),
    ticker varchar(40) NOT NULL CONSTRAINT alerts_ticker_is_plain CHECK (ticker ~ '^[A-Za-z0-9./-]+$'),
    measure varchar(5) NOT NULL
        CONSTRAINT alerts_measure_is_known CHECK (measure IN ('price', '5m', '15m', '1h', 'day')),
    direction varchar(4) NOT NULL CONSTRAINT alerts_direction_is_known CHECK (direction IN ('up', 'down')),
    threshold double precision NOT NULL
        CONSTRAINT alerts_threshold_is_in_bounds CHECK (threshold > -1e12 AND threshold < 1e12),
    note varchar(200) NOT NULL DEFAULT '',
    repeats boolean NOT NULL DEFAULT false,
    active boolean NOT NULL DEFAULT true,
    events integer NOT NULL DEFAULT 0,
    by_webhook boolean NOT NULL DEFAULT false,
    by_push boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    armed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX alerts_user_id ON alerts (user_id);
CREATE INDEX alerts_of_symbol ON alerts (kind, ticker, measure) WHERE active;

CREATE TABLE alert_events (
    id bigserial PRIMARY KEY,
    user_id varchar(24) NOT NULL REFERENCES users ON DELETE CASCADE,
    alert_id varchar(24) NOT NULL,
    crossing varchar(60) NOT NULL,
    kind varchar(6) NOT NULL,
    ticker varchar(40) NOT NULL,
    measure varchar(5) NOT NULL,
    direction varchar(4) NOT NULL,
    threshold double precision NOT NULL,
    note varchar(200) NOT NULL DEFAULT '',
    value double precision NOT NULL,
    price double precision NOT NULL,
    happened_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT alert_events_name_a_crossing_once UNIQUE (alert_id, crossing)
);
CREATE INDEX alert_events_of_user ON alert_events (user_id, id);
CREATE INDEX alert_events_of_time ON alert_events (happened_at);

CREATE TABLE webhooks (
    user_id varchar(24) PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    url text NOT NULL CONSTRAINT webhooks_url_is_short CHECK (octet_length(url) <= 2048),
    signing_secret text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_sent_at timestamptz,
    last_error varchar(200) NOT NULL DEFAULT '',
    last_error_at timestamptz
);

CREATE TABLE push_subscriptions (
    id varchar(24) PRIMARY KEY,
    user_id varchar(24) NOT NULL REFERENCES users ON DELETE CASCADE,
    endpoint text NOT NULL CONSTRAINT push_subscriptions_endpoint_is_short CHECK (octet_length(endpoint) <= 2048),
    p256dh text NOT NULL,
    auth text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT push_subscriptions_name_a_browser_once UNIQUE (user_id, endpoint)
);

CREATE TABLE alert_deliveries (
    id bigserial PRIMARY KEY,
    event_id bigint NOT NULL REFERENCES alert_events ON DELETE CASCADE,
    user_id varchar(24) NOT NULL REFERENCES users ON DELETE CASCADE,
    channel varchar(7) NOT NULL
        CONSTRAINT alert_deliveries_channel_is_known CHECK (channel IN ('webhook', 'push')),
    target varchar(24) NOT NULL DEFAULT '',
    attempts integer NOT NULL DEFAULT 0,
    state varchar(7) NOT NULL DEFAULT 'waiting'
        CONSTRAINT alert_deliveries_state_is_known CHECK (state IN ('waiting', 'sent', 'failed')),
    created_at timestamptz NOT NULL DEFAULT now(),
    next_at timestamptz NOT NULL DEFAULT now(),
    last_error varchar(200) NOT NULL DEFAULT ''
);
CREATE INDEX alert_deliveries_event_id ON alert_deliveries (event_id);
CREATE INDEX alert_deliveries_user_id ON alert_deliveries (user_id);
CREATE INDEX alert_deliveries_waiting ON alert_deliveries (next_at) WHERE state = 'waiting';

-- Counts the writes to the alerts of a kind, so that an ingest notices them.
CREATE TABLE alert_changes (kind varchar(6) PRIMARY KEY, number bigint NOT NULL);
-- Up to which crossing each feed's events are written.
CREATE TABLE alert_crossings_written (feed text PRIMARY KEY, through text NOT NULL);

-- An ingest creates the partitions of bars.
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['bars_1m', 'bars_5m', 'bars_15m', 'bars_1h', 'bars_d'] LOOP
        EXECUTE 'CREATE TABLE ' || name || ' (
            feed text NOT NULL,
            symbol text NOT NULL,
            opened timestamptz NOT NULL,
            open double precision NOT NULL,
            high double precision NOT NULL,
            low double precision NOT NULL,
            close double precision NOT NULL,
            volume double precision,
            updates integer NOT NULL,
            PRIMARY KEY (feed, symbol, opened)
        ) PARTITION BY RANGE (opened)';
    END LOOP;
END $$;
CREATE TABLE bars_written (feed text PRIMARY KEY, through timestamptz NOT NULL);

CREATE TABLE api_keys (
    id varchar(24) PRIMARY KEY CONSTRAINT api_keys_id_is_hexadecimal CHECK (id ~ '^[0-9a-f]{24}$'),
    user_id varchar(24) REFERENCES users ON DELETE CASCADE,
    name varchar(100) NOT NULL CONSTRAINT api_keys_name_is_trimmed CHECK (name <> '' AND name = btrim(name)),
    plan varchar(40) NOT NULL DEFAULT '',
    secret_hash varchar(64) NOT NULL CONSTRAINT api_keys_hash_is_a_digest CHECK (secret_hash ~ '^[0-9a-f]{64}$'),
    previous_hash varchar(64),
    previous_until timestamptz,
    scope text NOT NULL CONSTRAINT api_keys_scope_is_small CHECK (octet_length(scope) <= 65536),
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz
);
CREATE INDEX api_keys_of_user ON api_keys (user_id, id);

CREATE TABLE plans (
    name varchar(40) PRIMARY KEY CONSTRAINT plans_name_is_plain CHECK (name ~ '^[a-z][a-z0-9-]{0,39}$'),
    definition text NOT NULL CONSTRAINT plans_are_small CHECK (octet_length(definition) <= 16384),
    updated_at timestamptz NOT NULL
);

-- Workers read this number to learn of changes. A transaction that changes it holds its row until it commits, so
-- numbers become visible in their order.
CREATE TABLE key_changes (
    one boolean PRIMARY KEY DEFAULT true CONSTRAINT key_changes_has_one_row CHECK (one),
    number bigint NOT NULL
);
INSERT INTO key_changes (number) VALUES (0);

CREATE FUNCTION count_key_change() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN UPDATE key_changes SET number = number + 1; RETURN NULL; END';
-- An insertion changes no key that a worker knows; that of a plan may complete one.
CREATE TRIGGER api_keys_count_key_changes AFTER UPDATE OR DELETE ON api_keys
    FOR EACH STATEMENT EXECUTE FUNCTION count_key_change();
CREATE TRIGGER plans_count_key_changes AFTER INSERT OR UPDATE OR DELETE ON plans
    FOR EACH STATEMENT EXECUTE FUNCTION count_key_change();
CREATE TRIGGER users_count_key_changes AFTER UPDATE OF disabled ON users
    FOR EACH STATEMENT EXECUTE FUNCTION count_key_change();

-- Sessions open feeds as keys do. Most logins delete no session; a number that rose with each would make all workers
-- read their keys.
CREATE FUNCTION count_session_end() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN IF EXISTS (SELECT FROM ended) THEN UPDATE key_changes SET number = number + 1; END IF; RETURN NULL; END';
CREATE TRIGGER sessions_count_key_changes AFTER DELETE ON sessions
    REFERENCING OLD TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION count_session_end();

-- Workers update the rows of today every ten seconds; the space left in each page lets them do so in place.
CREATE TABLE api_key_usage (
    key_id varchar(24) NOT NULL REFERENCES api_keys ON DELETE CASCADE,
    day date NOT NULL,
    requests bigint NOT NULL DEFAULT 0,
    refused bigint NOT NULL DEFAULT 0,
    socket_ms bigint NOT NULL DEFAULT 0,
    quotes bigint NOT NULL DEFAULT 0,
    bytes bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (key_id, day)
) WITH (fillfactor = 80);
CREATE INDEX api_key_usage_by_day ON api_key_usage (day);

-- The newest batch of each worker: a retry of a batch whose commit had no answer adds nothing.
CREATE TABLE api_key_usage_batches (
    worker varchar(32) PRIMARY KEY,
    number bigint NOT NULL,
    added_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE operators (
    user_id varchar(24) PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    totp text CONSTRAINT operators_totp_is_short CHECK (octet_length(totp) <= 200),
    totp_step bigint NOT NULL DEFAULT 0,
    added_at timestamptz NOT NULL
);

CREATE TABLE operator_sessions (
    id varchar(24) PRIMARY KEY CONSTRAINT operator_sessions_id_is_hexadecimal CHECK (id ~ '^[0-9a-f]{24}$'),
    user_id varchar(24) NOT NULL REFERENCES operators ON DELETE CASCADE,
    token_version integer NOT NULL,
    address varchar(50) NOT NULL,
    created_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX operator_sessions_of_user ON operator_sessions (user_id);

-- A log, to which rows are only added. It does not refer to users: a row outlives the user whom it names.
CREATE TABLE operator_actions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    happened_at timestamptz NOT NULL DEFAULT now(),
    via varchar(5) NOT NULL CONSTRAINT operator_actions_via_is_known CHECK (via IN ('page', 'shell')),
    actor varchar(254) NOT NULL,
    address varchar(50) NOT NULL,
    action varchar(40) NOT NULL CONSTRAINT operator_actions_action_is_plain CHECK (action ~ '^[a-z]+[.][a-z]+$'),
    target varchar(60) NOT NULL,
    detail varchar(100) NOT NULL,
    outcome varchar(7) NOT NULL CONSTRAINT operator_actions_outcome_is_known CHECK (outcome IN ('done', 'refused'))
);
CREATE FUNCTION keep_operator_actions() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION ''rows of operator_actions stay as they are'' USING ERRCODE = ''insufficient_privilege''; END';
CREATE TRIGGER operator_actions_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON operator_actions
    FOR EACH STATEMENT EXECUTE FUNCTION keep_operator_actions();
-- Also for sessions of replication, in which other triggers rest.
ALTER TABLE operator_actions ENABLE ALWAYS TRIGGER operator_actions_stay;
