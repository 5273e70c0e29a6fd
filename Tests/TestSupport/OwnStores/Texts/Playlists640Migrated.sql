-- The same music in a store that framework 640 has migrated in place, from a model with an entity Label between Album and Playlist
-- and with songs that had a genre: the column and the table that no model has any more are still there, a new column stands at the
-- end, the join tables have the numbers of then, the subentity Recording is listed under its former name, and somebody has added
-- rows by hand, so that Z_MAX is below the keys that are there.
-- Z_PLIST is written as an XML property list; a store holds it in binary form.
-- Z_MODELCACHE gets the archive of the model that the test writes out.

CREATE TABLE ZALBUM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTITLE VARCHAR, ZYEAR INTEGER );
CREATE TABLE ZLABEL ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR );
CREATE TABLE ZPLAYLIST ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR );
CREATE TABLE "Z_3SONGS" ( Z_3PLAYLISTS INTEGER, Z_4SONGS INTEGER, Z_FOK_4SONGS INTEGER, PRIMARY KEY (Z_3PLAYLISTS, Z_4SONGS) );
CREATE TABLE ZSONG ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZISLIVE INTEGER, ZALBUM INTEGER, Z_FOK_ALBUM INTEGER, ZGENRE VARCHAR, ZTITLE VARCHAR, ZPLACE VARCHAR, ZLENGTH FLOAT );
CREATE TABLE "Z_4REMIXES" ( Z_4ORIGINALS INTEGER, Z_4REMIXES INTEGER, PRIMARY KEY (Z_4ORIGINALS, Z_4REMIXES) );
CREATE INDEX Z_3SONGS_Z_4SONGS_INDEX ON "Z_3SONGS" (Z_4SONGS, Z_3PLAYLISTS);
CREATE INDEX ZSONG_ZALBUM_INDEX ON ZSONG (ZALBUM);
CREATE INDEX ZSONG_Z_ENT_INDEX ON ZSONG (Z_ENT);
CREATE INDEX Z_4REMIXES_Z_4REMIXES_INDEX ON "Z_4REMIXES" (Z_4REMIXES, Z_4ORIGINALS);
CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);

INSERT INTO Z_PRIMARYKEY VALUES (1, 'Album', 0, 1), (2, 'Playlist', 0, 2), (3, 'Song', 0, 4), (4, 'Take', 3, 0);
INSERT INTO ZLABEL VALUES (1, 2, 1, 'Reprise');

INSERT INTO ZALBUM (Z_PK, Z_ENT, Z_OPT, ZYEAR, ZTITLE) VALUES (1, 1, 2, 1971, 'Blue'), (2, 1, 1, NULL, 'Empty');
INSERT INTO ZPLAYLIST (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 5, 'Morning'), (2, 2, 1, 'Night');

-- The order of an album's songs is the order of Z_FOK_ALBUM: Carey, All I Want, A Case.
INSERT INTO ZSONG (Z_PK, Z_ENT, Z_OPT, ZISLIVE, ZALBUM, Z_FOK_ALBUM, ZLENGTH, ZTITLE, ZPLACE) VALUES
  (1, 3, 1, 0, 1, 3072, 213.5, 'All I Want', NULL),
  (2, 3, 2, NULL, 1, 2048, 182, 'Carey', NULL),
  (3, 4, 1, 1, 1, 4096, 262.25, 'A Case', 'London'),
  (7, 4, 1, 1, NULL, NULL, NULL, 'Remix', NULL);
UPDATE ZSONG SET ZGENRE = 'folk' WHERE Z_PK < 4;

-- A playlist's songs in their order: Morning has A Case, All I Want; Night has All I Want, Carey, A Case.
INSERT INTO "Z_3SONGS" (Z_3PLAYLISTS, Z_4SONGS, Z_FOK_4SONGS) VALUES (1, 3, 2048), (1, 1, 3072), (2, 1, 1), (2, 2, 9), (2, 3, 40000);
-- Of Carey, and of All I Want, there is a remix.
INSERT INTO "Z_4REMIXES" (Z_4ORIGINALS, Z_4REMIXES) VALUES (2, 7), (1, 7);

INSERT INTO Z_MODELCACHE VALUES (NULL);
INSERT INTO Z_METADATA VALUES (1, '6A4D2C10-0640-4D1B-8F55-2B7A0C9E0641', '<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict>
  <key>NSStoreModelVersionIdentifiers</key><array><string></string></array>
  <key>NSStoreType</key><string>SQLite</string>
  <key>_NSAutoVacuumLevel</key><string>2</string>
  <key>NSPersistenceFrameworkVersion</key><integer>640</integer>
  <key>NSStoreModelVersionHashesVersion</key><integer>3</integer>
  <key>NSStoreModelVersionHashes</key><dict>
    <key>Album</key><data>8Z5WqwD6glDMx7gLO7JGJiIAwFeZfau0NCddbLp/NBc=</data>
    <key>Playlist</key><data>0wKEQbCyVYQ4ZLch6Q8OuQnxqSPmVP5a41qSHCCrZqo=</data>
    <key>Recording</key><data>9dT1JZsuto4gzH6TjMeqhOeFPepMGaqw8/GsL+9ZjB4=</data>
    <key>Song</key><data>VcuwIBZ/3srSJHLBvbtKeSCk2uHQXpdePRgwaKBxRLU=</data>
  </dict>
  <key>org.example.note</key><string>kept &amp; untouched</string>
</dict></plist>');
