CREATE TRIGGER keys_change AFTER UPDATE ON keys
BEGIN
	INSERT INTO changes (uid, tags)
	VALUES (lower(hex(randomblob(16))), json_array('key ' || new.id));
END;
