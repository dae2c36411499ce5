-- Tables of ax for SQLite.
--
-- Times are microseconds since 1970-01-01 UTC; NULL stands for "none". The
-- views of 0002 show them readable. Names compare byte by byte. Where an index
-- should end with the id it does not name it: SQLite appends the rowid, which
-- the id is.

-- One row a task; a row with deleted_at set is a task that was removed.
CREATE TABLE ax_task (
  id           INTEGER PRIMARY KEY,          -- hash of app and name
  app          TEXT    NOT NULL,
  name         TEXT    NOT NULL,
  bucket       INTEGER NOT NULL,             -- id modulo 1024, for ownership
  definition   TEXT    NOT NULL,             -- JSON, without the source
  source       TEXT    NOT NULL,             -- file:line
  enabled      INTEGER NOT NULL,
  next_at      INTEGER,                      -- next due time without a row
  prev_at      INTEGER,                      -- newest due time with a row
  planned      TEXT,                         -- JSON array of times after next_at
  plan_version TEXT    NOT NULL,             -- the schedule they belong to
  plan_done    INTEGER NOT NULL,             -- 1: none follows the planned ones
  anchor_at    INTEGER,
  paused       INTEGER NOT NULL,
  paused_until INTEGER,
  parked       TEXT    NOT NULL,             -- why it cannot be scheduled now
  failures     INTEGER NOT NULL,             -- in a row
  revision     INTEGER NOT NULL,             -- of the definition
  created_at   INTEGER NOT NULL,
  created_by   TEXT    NOT NULL,
  updated_at   INTEGER NOT NULL,
  updated_by   TEXT    NOT NULL,
  deleted_at   INTEGER
) STRICT;
CREATE UNIQUE INDEX ax_task_name ON ax_task (app, name);

-- One row for each due time of a task that was reached, whatever came of it.
CREATE TABLE ax_instance (
  id            INTEGER PRIMARY KEY,         -- rises with time
  app           TEXT    NOT NULL,
  task_id       INTEGER NOT NULL,
  task_name     TEXT    NOT NULL,
  scheduled_at  INTEGER NOT NULL,
  kind          TEXT    NOT NULL,            -- scheduled, manual, backfill, child
  shard         INTEGER NOT NULL,
  status        TEXT    NOT NULL,
  attempt       INTEGER NOT NULL,            -- attempts begun
  fence         INTEGER NOT NULL,            -- grows at each claim and dispatch
  owner         TEXT    NOT NULL,            -- incarnation of the host
  node          TEXT    NOT NULL,            -- its name
  reason        TEXT    NOT NULL,
  missed        INTEGER NOT NULL,            -- due times a MISSED row stands for
  missed_until  INTEGER,
  trace_id      TEXT    NOT NULL,
  params        TEXT,                        -- JSON
  params_bound  INTEGER NOT NULL,
  created_at    INTEGER NOT NULL,
  started_at    INTEGER,                     -- of the newest attempt
  ended_at      INTEGER,
  retry_at      INTEGER,
  deferred      INTEGER NOT NULL,            -- its end comes by a callback
  callback_hash TEXT    NOT NULL,
  deadline_at   INTEGER,
  message       TEXT    NOT NULL,
  error         TEXT    NOT NULL,
  data          TEXT                         -- JSON
) STRICT;
-- Never twice: the promise rests on this key.
CREATE UNIQUE INDEX ax_instance_due ON ax_instance (task_id, scheduled_at, kind, shard);
CREATE INDEX ax_instance_task ON ax_instance (task_id);
CREATE INDEX ax_instance_status ON ax_instance (app, status);

-- What happened to an instance, and the output of its job.
CREATE TABLE ax_log (
  id          INTEGER PRIMARY KEY,           -- rises with time
  instance_id INTEGER NOT NULL,
  task_id     INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  attempt     INTEGER NOT NULL,
  stage       TEXT    NOT NULL,
  level       TEXT    NOT NULL,
  node        TEXT    NOT NULL,
  text        TEXT    NOT NULL
) STRICT;
CREATE INDEX ax_log_instance ON ax_log (instance_id);

-- One row for each life of a host process.
CREATE TABLE ax_node (
  incarnation TEXT    NOT NULL PRIMARY KEY,
  name        TEXT    NOT NULL,
  app         TEXT    NOT NULL,
  address     TEXT    NOT NULL,              -- host:port of the API
  version     TEXT    NOT NULL,
  pid         INTEGER NOT NULL,
  started_at  INTEGER NOT NULL,
  beat_at     INTEGER NOT NULL,              -- by the clock of the database
  draining    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Notifications: the windows that gather events, and the outbox.
CREATE TABLE ax_alert (
  id           INTEGER PRIMARY KEY,
  app          TEXT    NOT NULL,
  task_id      INTEGER NOT NULL,
  notifier     TEXT    NOT NULL,
  event        TEXT    NOT NULL,
  state        TEXT    NOT NULL,             -- open, sent, failed, given_up
  window_start INTEGER,
  window_end   INTEGER,
  count        INTEGER NOT NULL,
  first_at     INTEGER,
  last_at      INTEGER,
  payload      TEXT,                         -- JSON
  attempts     INTEGER NOT NULL,
  next_try_at  INTEGER,
  last_error   TEXT    NOT NULL
) STRICT;
CREATE INDEX ax_alert_due ON ax_alert (app, state, next_try_at);
CREATE INDEX ax_alert_window ON ax_alert (app, task_id, window_start);

-- Who changed what. The id comes from the database: these rows are rare, and
-- nobody needs the number of one before it is written.
CREATE TABLE ax_audit (
  id     INTEGER PRIMARY KEY,
  at     INTEGER NOT NULL,
  app    TEXT    NOT NULL,
  actor  TEXT    NOT NULL,
  action TEXT    NOT NULL,
  object TEXT    NOT NULL,
  detail TEXT                                -- JSON
) STRICT;
CREATE INDEX ax_audit_object ON ax_audit (app, object);
