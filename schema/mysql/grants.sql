-- Accounts for a cluster. Run this as an administrator, with passwords of your
-- own, another name of the database, or another prefix of the tables where you
-- chose them. Instead of '%' write the network of your hosts if you can.
--
-- Part 1 comes first, then "ax migrate" with the account ax_owner, then part 2.

-- Part 1: the database and the accounts.
CREATE DATABASE IF NOT EXISTS `ax` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE USER IF NOT EXISTS 'ax_owner'@'%' IDENTIFIED BY 'change-me-owner';
CREATE USER IF NOT EXISTS 'ax_host'@'%' IDENTIFIED BY 'change-me-host';
CREATE USER IF NOT EXISTS 'ax_console'@'%' IDENTIFIED BY 'change-me-console';

-- The owner makes and changes tables: ax migrate --dsn mysql://ax_owner:…
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, CREATE VIEW, SHOW VIEW ON `ax`.* TO 'ax_owner'@'%';

-- A host reads and writes rows, nothing else. "ax migrate" then has to run once
-- a month or more often, to make the partitions of the days to come; until it
-- does rows go into the last partition, and old ones are deleted one by one.
GRANT SELECT, INSERT, UPDATE, DELETE ON `ax`.* TO 'ax_host'@'%';

-- A host that only shows the console changes no instances.
GRANT SELECT ON `ax`.* TO 'ax_console'@'%';

-- Part 2, once the tables are there.

-- The console shows that it is there, and people may pause tasks in it, silence
-- alerts, and send dead letters again or throw them away.
GRANT INSERT, UPDATE, DELETE ON `ax`.`ax_node` TO 'ax_console'@'%';
GRANT INSERT, UPDATE ON `ax`.`ax_app` TO 'ax_console'@'%';
GRANT UPDATE (paused, paused_until, changed) ON `ax`.`ax_task` TO 'ax_console'@'%';
GRANT INSERT ON `ax`.`ax_audit` TO 'ax_console'@'%';
GRANT INSERT, DELETE ON `ax`.`ax_alert_silence` TO 'ax_console'@'%';
GRANT UPDATE (state, next_try_at, window_end, attempts, version) ON `ax`.`ax_alert` TO 'ax_console'@'%';

GRANT DELETE ON `ax`.`ax_request` TO 'ax_console'@'%';

-- If hosts shall make and drop day partitions themselves, which changes no other
-- table, add:
--   GRANT ALTER, CREATE, DROP ON `ax`.`ax_instance` TO 'ax_host'@'%';
--   GRANT ALTER, CREATE, DROP ON `ax`.`ax_log` TO 'ax_host'@'%';
