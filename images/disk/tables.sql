-- The tables of sysbench's two dialects, 100,000 rows each, as sloglab-load's "oltp prepare" makes them: sbtest of 0.4
-- (every row alike) and sbtest1 of 1.0 (digits). The server runs this file at start and stops.
CREATE DATABASE sbtest;
USE sbtest;
CREATE USER 'sbtest'@'%' IDENTIFIED BY '';
GRANT ALL ON *.* TO 'sbtest'@'%';
CREATE TABLE sbtest.sbtest (id INTEGER UNSIGNED NOT NULL AUTO_INCREMENT, k INTEGER UNSIGNED DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)) ENGINE = InnoDB;
INSERT INTO sbtest.sbtest SELECT seq, 0, ' ', 'qqqqqqqqqqwwwwwwwwwweeeeeeeeeerrrrrrrrrrtttttttttt' FROM seq_1_to_100000;
CREATE INDEX k ON sbtest.sbtest (k);
SET @@rand_seed1 = 510615, @@rand_seed2 = 4001;
CREATE TABLE sbtest.sbtest1 (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)) ENGINE = InnoDB;
INSERT INTO sbtest.sbtest1 SELECT seq, 1 + FLOOR(RAND() * 100000), CONCAT_WS('-', LPAD(FLOOR(RAND() * 1e11), 11, '0'), LPAD(FLOOR(RAND() * 1e11), 11, '0'), LPAD(FLOOR(RAND() * 1e11), 11, '0'), LPAD(FLOOR(RAND() * 1e11), 11, '0'), LPAD(FLOOR(RAND() * 1e11), 11, '0'), LPAD(FLOOR(RAND() * 1e11), 11, '0'), LPAD(FLOOR(RAND() * 1e11), 11, '0'), LPAD(FLOOR(RAND() * 1e11), 11, '0'), LPAD(FLOOR(RAND() * 1e11), 11, '0'), LPAD(FLOOR(RAND() * 1e11), 11, '0')), CONCAT_WS('-', LPAD(FLOOR(RAND() * 1e11), 11, '0'), LPAD(FLOOR(RAND() * 1e11), 11, '0'), LPAD(FLOOR(RAND() * 1e11), 11, '0'), LPAD(FLOOR(RAND() * 1e11), 11, '0'), LPAD(FLOOR(RAND() * 1e11), 11, '0')) FROM seq_1_to_100000;
CREATE INDEX k_1 ON sbtest.sbtest1 (k);
SET GLOBAL innodb_fast_shutdown = 0;
SHUTDOWN;
