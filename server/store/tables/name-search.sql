CREATE VIRTUAL TABLE channel_names USING fts5(
	username, display_name,
	content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
);
--> statement-breakpoint
CREATE TRIGGER channel_names_insert AFTER INSERT ON channels
WHEN new.username_folded IS NOT NULL OR new.display_name_folded IS NOT NULL
BEGIN
	INSERT INTO channel_names (rowid, username, display_name)
	VALUES (new.key, new.username_folded, new.display_name_folded);
END;
--> statement-breakpoint
CREATE TRIGGER channel_names_update AFTER UPDATE OF username_folded, display_name_folded ON channels
WHEN (new.username_folded, new.display_name_folded) IS NOT (old.username_folded, old.display_name_folded)
BEGIN
	DELETE FROM channel_names WHERE rowid = old.key;
	INSERT INTO channel_names (rowid, username, display_name)
	VALUES (new.key, new.username_folded, new.display_name_folded);
END;
--> statement-breakpoint
CREATE VIRTUAL TABLE user_names USING fts5(
	username, display_name,
	content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
);
--> statement-breakpoint
CREATE TRIGGER user_names_insert AFTER INSERT ON users
BEGIN
	INSERT INTO user_names (rowid, username, display_name)
	VALUES (new.key, new.id, new.display_name_folded);
END;
--> statement-breakpoint
CREATE TRIGGER user_names_update AFTER UPDATE OF display_name_folded ON users
WHEN new.display_name_folded IS NOT old.display_name_folded
BEGIN
	DELETE FROM user_names WHERE rowid = old.key;
	INSERT INTO user_names (rowid, username, display_name)
	VALUES (new.key, new.id, new.display_name_folded);
END;
