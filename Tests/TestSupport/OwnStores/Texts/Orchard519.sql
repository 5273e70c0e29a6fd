-- An orchard, as framework 519 wrote it: no copy of the model, no history. One table for a hierarchy of four entities, in which
-- two branches have an attribute of one name, and a relationship to that hierarchy.
-- Z_PLIST is written as an XML property list; a store holds it in binary form.

CREATE TABLE ZGARDENER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZBADGE INTEGER, ZFAVORITE INTEGER, Z2_FAVORITE INTEGER, ZNAME VARCHAR );
CREATE TABLE ZPLANT ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZISHEALTHY INTEGER, ZGARDENER INTEGER, ZTHORNS INTEGER, ZRINGS INTEGER, ZHEIGHT FLOAT, ZPLANTED TIMESTAMP, ZGIRTH FLOAT, ZYIELD DECIMAL, ZLABEL VARCHAR, ZNOTE VARCHAR, ZNOTE1 VARCHAR, ZIMAGE BLOB );
CREATE INDEX ZGARDENER_ZFAVORITE_INDEX ON ZGARDENER (ZFAVORITE);
CREATE INDEX ZPLANT_ZGARDENER_INDEX ON ZPLANT (ZGARDENER);
CREATE INDEX ZPLANT_Z_ENT_INDEX ON ZPLANT (Z_ENT);
CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);

-- Numbers: root entities by name, each followed by its subentities. Keys of a hierarchy are counted with its root.
INSERT INTO Z_PRIMARYKEY VALUES (1, 'Gardener', 0, 2), (2, 'Plant', 0, 5), (3, 'Bush', 2, 0), (4, 'Tree', 2, 0), (5, 'FruitTree', 4, 0);

INSERT INTO ZGARDENER (Z_PK, Z_ENT, Z_OPT, ZBADGE, ZFAVORITE, Z2_FAVORITE, ZNAME) VALUES
  (1, 1, 3, 7, 4, 5, 'Ada'),
  (2, 1, 1, NULL, NULL, NULL, 'Élodie');

-- Dates are seconds since 2001. The fifth plant was deleted: its key is not used again.
INSERT INTO ZPLANT (Z_PK, Z_ENT, Z_OPT, ZISHEALTHY, ZGARDENER, ZTHORNS, ZRINGS, ZHEIGHT, ZPLANTED, ZGIRTH, ZYIELD, ZLABEL, ZNOTE, ZNOTE1, ZIMAGE) VALUES
  (1, 3, 1, 1, 1, 1, NULL, 1.25, 410227200, NULL, NULL, 'Rose', 'by the gate', NULL, NULL),
  (2, 4, 2, 0, 1, NULL, 140, 21.5, -3187209600, 2.5, NULL, 'Oak', NULL, NULL, X'89504E470D0A00FF'),
  (3, 4, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '', NULL, NULL, X''),
  (4, 5, 4, 1, 1, NULL, 9, 4, 504921600.5, 0.25, 12.75, 'Apple', NULL, 'sour', NULL);

INSERT INTO Z_METADATA VALUES (1, '0B8C1F6E-5F5D-4C0A-9E0B-51D0A5190519', '<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict>
  <key>NSStoreModelVersionIdentifiers</key><array><string></string></array>
  <key>NSStoreType</key><string>SQLite</string>
  <key>_NSAutoVacuumLevel</key><string>2</string>
  <key>NSPersistenceFrameworkVersion</key><integer>519</integer>
  <key>NSStoreModelVersionHashesVersion</key><integer>3</integer>
  <key>NSStoreModelVersionHashes</key><dict>
    <key>Bush</key><data>jrkD/fYCzrT2gXSub4PTgJob1WXdQtYkAt0sR3TH0zE=</data>
    <key>FruitTree</key><data>0HW4lew/WqthjPPE7VYg5Q+qumG+ABZNr4AJZjmVH9U=</data>
    <key>Gardener</key><data>nGatfeF/q3VPEfhyRSAEwgAStewwJXl4NoMZ0/UGhB0=</data>
    <key>Plant</key><data>YjpYFTG7bQQS5J7R5i+VrVeuyU1iQCvBIkZkw0hvzuw=</data>
    <key>Tree</key><data>IfK7B0z71a1kTfsOXq6inPVewLjp7fFLpdou6P5FBsY=</data>
  </dict>
  <key>org.example.note</key><string>kept &amp; untouched</string>
</dict></plist>');
