-- Notifications across hosts: see sqlite/0004_alerts.sql for what they mean.

CREATE TABLE ax_alert_event (
  id          BIGINT        NOT NULL PRIMARY KEY,   -- rises with time
  app         VARCHAR(190)  NOT NULL,
  task_id     BIGINT        NOT NULL,
  subject     VARCHAR(255)  NOT NULL,               -- name of the task, or of what else
  receivers   TEXT          NOT NULL,               -- JSON, of what is no task
  event       VARCHAR(64)   NOT NULL,
  count       BIGINT        NOT NULL,               -- how often it happened
  at          BIGINT        NOT NULL,               -- the newest time
  instance_id BIGINT        NOT NULL,               -- 0 for none
  attempt     INT           NOT NULL,
  node        VARCHAR(190)  NOT NULL,
  detail      TEXT          NOT NULL,               -- empty: the instance tells
  KEY ax_alert_event_app (app, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- How a task fares, as far as notifications need to know.
CREATE TABLE ax_alert_task (
  task_id  BIGINT        NOT NULL PRIMARY KEY,
  app      VARCHAR(190)  NOT NULL,
  failures BIGINT        NOT NULL,                  -- in a row
  state    MEDIUMTEXT    NOT NULL,                  -- JSON
  KEY ax_alert_task_failing (app, failures)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The host that gathers and sends, for as long as its lease lasts.
CREATE TABLE ax_alert_lease (
  app      VARCHAR(190)  NOT NULL PRIMARY KEY,
  owner    VARCHAR(190)  NOT NULL,                  -- incarnation of the host
  fence    BIGINT        NOT NULL,                  -- grows with each new owner
  until_at BIGINT        NOT NULL                   -- by the clock of the database
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- How the notifiers fare. A row with failing_since is one that is down.
CREATE TABLE ax_alert_notifier (
  app           VARCHAR(190)  NOT NULL,
  name          VARCHAR(190)  NOT NULL,
  failing_since BIGINT,
  failures      BIGINT        NOT NULL,             -- tries in a row without success
  next_try_at   BIGINT,
  last_error    VARCHAR(1024) NOT NULL,
  sent_at       BIGINT,                             -- the newest message
  PRIMARY KEY (app, name)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Times in which a person wants to hear nothing of a task: messages wait.
CREATE TABLE ax_alert_silence (
  id         BIGINT        NOT NULL PRIMARY KEY,
  app        VARCHAR(190)  NOT NULL,
  task       VARCHAR(255)  NOT NULL,                -- empty: all
  notifier   VARCHAR(190)  NOT NULL,                -- empty: all
  until_at   BIGINT        NOT NULL,
  reason     VARCHAR(1024) NOT NULL,
  created_at BIGINT        NOT NULL,
  created_by VARCHAR(255)  NOT NULL,
  KEY ax_alert_silence_until (app, until_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

ALTER TABLE ax_alert
  ADD COLUMN task_name VARCHAR(255) NOT NULL DEFAULT '',
  ADD COLUMN version BIGINT NOT NULL DEFAULT 1,     -- grows with each write
  ADD COLUMN digest VARCHAR(190) NOT NULL DEFAULT '', -- of what it says, once it leaves
  ADD COLUMN merged_into BIGINT NOT NULL DEFAULT 0, -- the row that told of it as well
  ADD KEY ax_alert_told (app, notifier, window_end),
  ADD KEY ax_alert_merged (merged_into);

-- For the watch that looks for due times without a row.
ALTER TABLE ax_task ADD KEY ax_task_next (app, next_at);

CREATE SQL SECURITY INVOKER VIEW ax_alert_event_v AS SELECT
  id, app, task_id, subject, receivers, event, count,
  TIMESTAMPADD(MICROSECOND, at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS at,
  instance_id, attempt, node, detail
FROM ax_alert_event;

CREATE SQL SECURITY INVOKER VIEW ax_alert_notifier_v AS SELECT
  app, name,
  TIMESTAMPADD(MICROSECOND, failing_since, TIMESTAMP('1970-01-01 00:00:00.000000')) AS failing_since,
  failures,
  TIMESTAMPADD(MICROSECOND, next_try_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS next_try_at,
  last_error,
  TIMESTAMPADD(MICROSECOND, sent_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS sent_at
FROM ax_alert_notifier;

CREATE SQL SECURITY INVOKER VIEW ax_alert_silence_v AS SELECT
  id, app, task, notifier,
  TIMESTAMPADD(MICROSECOND, until_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS until_at,
  reason,
  TIMESTAMPADD(MICROSECOND, created_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS created_at,
  created_by
FROM ax_alert_silence;

DROP VIEW ax_alert_v;
CREATE SQL SECURITY INVOKER VIEW ax_alert_v AS SELECT
  id, app, task_id, task_name, notifier, event, state,
  TIMESTAMPADD(MICROSECOND, window_start, TIMESTAMP('1970-01-01 00:00:00.000000')) AS window_start,
  TIMESTAMPADD(MICROSECOND, window_end, TIMESTAMP('1970-01-01 00:00:00.000000')) AS window_end,
  count,
  TIMESTAMPADD(MICROSECOND, first_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS first_at,
  TIMESTAMPADD(MICROSECOND, last_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS last_at,
  payload, attempts,
  TIMESTAMPADD(MICROSECOND, next_try_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS next_try_at,
  last_error, digest, merged_into, version
FROM ax_alert;
