-- Tables of ax for MySQL, MariaDB and what speaks their language. They mean the
-- same as those for SQLite; what differs is said here.
--
-- Times are microseconds since 1970-01-01 UTC; NULL stands for "none". The
-- views of 0002 show them readable. All texts are utf8mb4 and compare byte by
-- byte. JSON is text, since the type JSON changes what was written.
--
-- ax_instance and ax_log have partitions by day where the server can do that.
-- "ax migrate" makes them once the tables are there, see ARCHITECTURE.md. There
-- are no foreign keys, which partitions do not allow.

-- One row a task; a row with deleted_at set is a task that was removed.
CREATE TABLE ax_task (
  id           BIGINT        NOT NULL PRIMARY KEY,  -- hash of app and name
  app          VARCHAR(190)  NOT NULL,
  name         VARCHAR(255)  NOT NULL,
  bucket       INT           NOT NULL,              -- id modulo 1024, for ownership
  owner        VARCHAR(190)  NOT NULL DEFAULT '',   -- incarnation that schedules it
  fence        BIGINT        NOT NULL DEFAULT 0,    -- grows with each change of owner
  definition   MEDIUMTEXT    NOT NULL,              -- JSON, without the source
  source       TEXT          NOT NULL,              -- file:line
  enabled      TINYINT       NOT NULL,
  next_at      BIGINT,                              -- next due time without a row
  prev_at      BIGINT,                              -- newest due time with a row
  planned      MEDIUMTEXT,                          -- JSON array of times after next_at
  plan_version VARCHAR(190)  NOT NULL,              -- the schedule they belong to
  plan_done    TINYINT       NOT NULL,              -- 1: none follows the planned ones
  anchor_at    BIGINT,
  paused       TINYINT       NOT NULL,
  paused_until BIGINT,
  parked       VARCHAR(1024) NOT NULL,              -- why it cannot be scheduled now
  failures     BIGINT        NOT NULL,              -- in a row
  revision     BIGINT        NOT NULL,              -- of the definition
  changed      BIGINT        NOT NULL DEFAULT 0,    -- ax_app.version of the last change
  created_at   BIGINT        NOT NULL,
  created_by   VARCHAR(255)  NOT NULL,
  updated_at   BIGINT        NOT NULL,
  updated_by   VARCHAR(255)  NOT NULL,
  deleted_at   BIGINT,
  UNIQUE KEY ax_task_name (app, name),
  KEY ax_task_bucket (app, bucket),
  KEY ax_task_changed (app, changed)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- One row for each due time of a task that was reached, whatever came of it.
-- Never twice: that promise rests on the key ax_instance_due. Partitions go by
-- scheduled_at, for which that column must be part of every unique key; that of
-- the id is unique all the same, since ids are never made twice.
CREATE TABLE ax_instance (
  id            BIGINT        NOT NULL,             -- rises with time
  app           VARCHAR(190)  NOT NULL,
  task_id       BIGINT        NOT NULL,
  task_name     VARCHAR(255)  NOT NULL,
  scheduled_at  BIGINT        NOT NULL,
  kind          VARCHAR(16)   NOT NULL,             -- scheduled, manual, backfill, child
  shard         INT           NOT NULL,
  status        VARCHAR(16)   NOT NULL,
  attempt       INT           NOT NULL,             -- attempts begun
  fence         BIGINT        NOT NULL,             -- grows at each claim and dispatch
  owner         VARCHAR(190)  NOT NULL,             -- incarnation of the host
  node          VARCHAR(190)  NOT NULL,             -- its name
  reason        VARCHAR(1024) NOT NULL,
  missed        BIGINT        NOT NULL,             -- due times a MISSED row stands for
  missed_until  BIGINT,
  trace_id      VARCHAR(64)   NOT NULL,
  params        MEDIUMTEXT,                         -- JSON
  params_bound  TINYINT       NOT NULL,
  created_at    BIGINT        NOT NULL,
  started_at    BIGINT,                             -- of the newest attempt
  ended_at      BIGINT,
  retry_at      BIGINT,
  deferred      TINYINT       NOT NULL,             -- its end comes by a callback
  callback_hash VARCHAR(190)  NOT NULL,
  deadline_at   BIGINT,
  message       VARCHAR(1024) NOT NULL,
  error         TEXT          NOT NULL,
  data          MEDIUMTEXT,                         -- JSON
  PRIMARY KEY (id, scheduled_at),
  UNIQUE KEY ax_instance_due (task_id, scheduled_at, kind, shard),
  KEY ax_instance_task (task_id, id),
  KEY ax_instance_status (app, status, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- What happened to an instance, and the output of its job. Partitions go by id,
-- which holds the time at which the row was made.
CREATE TABLE ax_log (
  id          BIGINT        NOT NULL PRIMARY KEY,   -- rises with time
  instance_id BIGINT        NOT NULL,
  task_id     BIGINT        NOT NULL,
  at          BIGINT        NOT NULL,
  attempt     INT           NOT NULL,
  stage       VARCHAR(32)   NOT NULL,
  level       VARCHAR(16)   NOT NULL,
  node        VARCHAR(190)  NOT NULL,
  text        MEDIUMTEXT    NOT NULL,
  KEY ax_log_instance (instance_id, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- One row for each life of a host process.
CREATE TABLE ax_node (
  incarnation VARCHAR(190)  NOT NULL PRIMARY KEY,
  name        VARCHAR(190)  NOT NULL,
  app         VARCHAR(190)  NOT NULL,
  slot        INT,                                  -- a number that no other row has, for making ids
  address     VARCHAR(255)  NOT NULL,               -- host:port of the API
  cluster     VARCHAR(255)  NOT NULL,               -- host:port for other hosts
  version     VARCHAR(64)   NOT NULL,
  pid         BIGINT        NOT NULL,
  started_at  BIGINT        NOT NULL,
  beat_at     BIGINT        NOT NULL,               -- by the clock of the database
  draining    TINYINT       NOT NULL,
  figures     MEDIUMTEXT,                           -- JSON: labels, offers and load
  UNIQUE KEY ax_node_slot (slot),
  KEY ax_node_app (app)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- One row an app: version grows with every change of its tasks by people, so
-- that other hosts need to look at one row to see that there is none.
CREATE TABLE ax_app (
  app         VARCHAR(190)  NOT NULL PRIMARY KEY,
  version     BIGINT        NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Notifications: the windows that gather events, and the outbox.
CREATE TABLE ax_alert (
  id           BIGINT        NOT NULL PRIMARY KEY,
  app          VARCHAR(190)  NOT NULL,
  task_id      BIGINT        NOT NULL,
  notifier     VARCHAR(190)  NOT NULL,
  event        VARCHAR(64)   NOT NULL,
  state        VARCHAR(16)   NOT NULL,              -- open, sent, failed, given_up
  window_start BIGINT,
  window_end   BIGINT,
  count        BIGINT        NOT NULL,
  first_at     BIGINT,
  last_at      BIGINT,
  payload      MEDIUMTEXT,                          -- JSON
  attempts     BIGINT        NOT NULL,
  next_try_at  BIGINT,
  last_error   VARCHAR(1024) NOT NULL,
  KEY ax_alert_due (app, state, next_try_at),
  KEY ax_alert_window (app, task_id, window_start, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Who changed what.
CREATE TABLE ax_audit (
  id     BIGINT        NOT NULL AUTO_INCREMENT PRIMARY KEY,
  at     BIGINT        NOT NULL,
  app    VARCHAR(190)  NOT NULL,
  actor  VARCHAR(255)  NOT NULL,
  action VARCHAR(64)   NOT NULL,
  object VARCHAR(1024) NOT NULL,
  detail MEDIUMTEXT,                                -- JSON
  KEY ax_audit_object (app, object(255), id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- A row here tells that a transaction was committed whose answer was lost, where
-- it left no row of ax_log or ax_instance that could tell: at most one for each
-- life of a host process. SQLite needs none: it loses no answers.
CREATE TABLE ax_witness (
  id BIGINT NOT NULL PRIMARY KEY
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
