import CSQLite
import CoreData
import Foundation
import TestSupport

// Another program that uses a store while tests do.
//
//     OtherProgram hold writing STORE      keeps a write transaction open, with changes, until its
//                                          standard input ends
//     OtherProgram hold exclusive STORE    keeps the file for itself until its standard input ends
//     OtherProgram hold reading STORE      keeps a read transaction open until its standard input
//                                          ends
//     OtherProgram save STORE COUNT        saves so many new makers, one after the other
//     OtherProgram migrate STORE           prints a line, migrates the store to a model with another
//                                          attribute and prints the number of makers
//     OtherProgram crash STORE             ends in the middle of a transaction whose pages are in
//                                          the file already
//     OtherProgram open writable STORE     opens the store with the engine, changes the makers'
//                                          names and saves
//     OtherProgram open read-only STORE    opens the store with the engine and prints the makers'
//                                          names
//
//     OtherProgram change STORE ENTITY NAME ATTRIBUTE NUMBER DELETED
//                                          sets an attribute of the objects named so, and deletes
//                                          those named DELETED
//
// Where STORE is a URL of a server, too:
//
//     OtherProgram follow STORE SEED SECONDS
//                                          changes a library's store and follows the changes of
//                                          others by its history; when its standard input has
//                                          ended, prints the authors that it knows
//
//     OtherProgram read STORE READER       prints the numbers of the transactions that a named
//                                          reader of a library's history has not read, until its
//                                          standard input ends, when it kills itself
//
//     OtherProgram full FOLDER SEED ROUNDS saves in a folder whose file system it fills and empties
//
//     OtherProgram count STORE SEED COUNT  saves so many times to a PostgreSQL store, raising the
//                                          numbers of two of its items each time
//
//     OtherProgram main-queue HOW          uses a main-queue context, whose queue is run by
//                                          `dispatchMain()` ("dispatch"), by a run loop
//                                          ("run-loop") or not at all ("none"); prints what it
//                                          made
//
//     OtherProgram postgresql              starts a server of its own, prints the folder of its
//                                          socket, and kills itself
//
// With a gallery's store that is migrated:
//
//     OtherProgram starved fill KIND TYPE FOLDER
//                                          makes it
//     OtherProgram starved migrate KIND TYPE FOLDER
//                                          migrates it and prints how that ended
//     OtherProgram starved check KIND TYPE DONE FOLDER...
//                                          looks at such stores, migrates those that are not and
//                                          prints what is wrong; DONE has a letter for each, "d"
//                                          where its migration went through
//     OtherProgram starved series KIND TYPE FOLDER SHORTAGE STEP
//                                          migrates it with more and more of what is lacking
//
// With a gallery's store:
//
//     OtherProgram gallery killed STORE SEED        saves and prints each save, until it kills
//                                                   itself
//     OtherProgram gallery migrated STORE VERSION WORK
//                                                   migrates the store to a version of its model,
//                                                   and kills itself after so much of the work
//     OtherProgram gallery reads STORE              looks at all photos until its standard input
//                                                   ends
//     OtherProgram gallery saves STORE SEED COUNT   saves so many times
//     OtherProgram gallery small STORE BYTES        opens and saves while files may not grow beyond
//                                                   a size, then without that limit
//     OtherProgram gallery closed STORE             opens the store while no file descriptor is
//                                                   left
//     OtherProgram gallery works STORE              opens the store, and saves and fetches while no
//                                                   file descriptor is left
//     OtherProgram gallery open STORE               looks at an open store while no file descriptor
//                                                   is left

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "hold" where arguments.count == 3:
    try Sharing.hold(arguments[1], path: arguments[2])
case "save" where arguments.count == 3:
    try Sharing.save(path: arguments[1], times: Int(arguments[2]) ?? 0)
case "migrate" where arguments.count == 2:
    try Sharing.migrate(path: arguments[1])
case "crash" where arguments.count == 2:
    let database = SQLiteFile(URL(fileURLWithPath: arguments[1]), flags: SQLITE_OPEN_READWRITE)
    // A small cache, so that changed pages are written before the end of the transaction.
    try database.run(
        "PRAGMA cache_size = 2; PRAGMA cache_spill = ON; BEGIN IMMEDIATE; UPDATE ZMAKER SET ZNAME = 'half done'")
    for _ in 0..<200 {
        try database.run("INSERT INTO ZMAKER (Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, hex(randomblob(2000)))")
    }
    _exit(9)
case "open" where arguments.count == 3:
    try Opening.run(path: arguments[2], isReadOnly: arguments[1] == "read-only")
case "change" where arguments.count == 7:
    try Changing.run(
        URL(fileURLWithPath: arguments[1]), entity: arguments[2], name: arguments[3], attribute: arguments[4],
        to: Int(arguments[5]) ?? 0, deleting: arguments[6])
case "read" where arguments.count == 3:
    try HistoryReading.run(StorePlace(arguments[1]), reader: arguments[2])
case "follow" where arguments.count == 4:
    try Following.run(
        StorePlace(arguments[1]), seed: UInt64(arguments[2]) ?? 0, seconds: Double(arguments[3]) ?? 0)
case "full" where arguments.count == 4:
    let program = FullDiskProgram(URL(fileURLWithPath: arguments[1]), seed: UInt64(arguments[2]) ?? 0)
    try program.run(rounds: Int(arguments[3]) ?? 1)
case "count" where arguments.count == 4:
    guard let url = URL(string: arguments[1]) else { exit(2) }
    try Counting.run(url, seed: UInt64(arguments[2]) ?? 0, times: Int(arguments[3]) ?? 0)
case "main-queue" where arguments.count == 2:
    try MainQueue.run(arguments[1])
case "postgresql" where arguments.count == 1:
    FileHandle.standardOutput.write(Data((PostgreSQLServer.shared?.socketFolder ?? "").utf8))
    kill(getpid(), SIGKILL)
case "starved" where arguments.count >= 5:
    guard let program = StarvedProgram(arguments[2], arguments[3], arguments[4]) else { exit(2) }
    switch (arguments[1], arguments.count) {
    case ("fill", 5): try program.store.fill()
    case ("migrate", 5): try program.migrate()
    case ("check", 6...):
        for (folder, letter) in zip(arguments.dropFirst(5), arguments[4]) {
            let program = StarvedProgram(arguments[2], arguments[3], folder)
            for problem in program?.check(afterDone: letter == "d", isStrict: false) ?? [] {
                StarvedProgram.say("\(folder): \(problem)")
            }
        }
    case ("series", 7):
        guard let shortage = StarvedProgram.Shortage(rawValue: arguments[5]) else { exit(2) }
        try program.run(shortage, step: Int(arguments[6]) ?? 1)
    default: exit(2)
    }
case "gallery" where arguments.count >= 3:
    let url = URL(fileURLWithPath: arguments[2])
    let numbers = arguments.dropFirst(3).compactMap { UInt64($0) }
    switch (arguments[1], numbers.count) {
    case ("killed", 1): try GalleryProgram.saveUntilKilled(url, seed: numbers[0])
    case ("migrated", 2):
        try GalleryProgram.migrate(url, to: GalleryVersion(rawValue: Int(numbers[0])), killedAfter: Int(numbers[1]))
    case ("migrated", 0): GalleryProgram.migrateByHand(url)
    case ("reads", 0): try GalleryProgram.read(url)
    case ("saves", 2): try GalleryProgram.save(url, seed: numbers[0], times: Int(numbers[1]))
    case ("small", 1): try GalleryProgram.withSmallFiles(url, bytes: Int(numbers[0]))
    case ("closed", 0): try GalleryProgram.withoutDescriptors(url, isOpen: false)
    case ("works", 0): try GalleryProgram.workWithoutDescriptors(url)
    case ("open", 0): try GalleryProgram.withoutDescriptors(url, isOpen: true)
    default: exit(2)
    }
default:
    print("unknown mode: \(arguments.joined(separator: " "))")
    exit(2)
}
