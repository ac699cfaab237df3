import Database
import Foundation
import Glibc
import Host
import HTTPServer
import Identity
import Testing

@testable import countersign

/// Tests for the operator messages of errors that Identity reports as facts.
struct OperatorTextTests {
  @Test(arguments: [
    (StartError.wrongProfile(.emulator), "Add --profile emulator,"),
    (.migration(.unknown("m9999_later")), "migration m9999_later"),
    (.empty, "it isn't the one that belongs to the master key."),
    (.notMigrated(["m1", "m2"]), "of this version: m1, m2."),
  ])
  func `a start that fails is explained`(error: StartError, part: String) {
    #expect(OperatorText.string(error.message).contains(part))
  }

  @Test func `a backup with rows that refer to missing ones is damaged`() {
    let damage = """
      It's damaged: a row in factor refers to a missing row, a row in session refers to a \
      missing row.
      """
    #expect(OperatorText.string(BackupFault.orphans(["factor", "session"]).message) == damage)
  }

  @Test(arguments: [
    (Grant(role: .owner), "owner (instance)"),
    (Grant(role: .policy, project: ID("acme")), "policy (acme)"),
    (Grant(role: .support, project: ID("acme"), tenant: ID("eu-1")), "support (acme / eu-1)"),
  ])
  func `a role has its scope in parentheses, as on pages`(grant: Grant, text: String) {
    #expect(OperatorText.string(grant.message) == text)
  }

  @Test func `an error of Foundation has the reason of the system`() async throws {
    try await withFolder { folder in
      try "".write(toFile: "\(folder)/file", atomically: false, encoding: .utf8)
      let error = try #require(throws: ConfigurationError.self) {
        try DataFolder(path: "\(folder)/file/data").prepare()
      }
      #expect(
        "\(error)" == "The data folder \(folder)/file/data can't be created: Not a directory")
    }
  }

  @Test(arguments: [
    (ENOSPC, true), (EDQUOT, true), (EIO, true), (EMFILE, true), (ENFILE, true), (ENOMEM, true),
    (EAGAIN, true),
    (EACCES, false),
    (ENOENT, false), (EROFS, false),
  ])
  func `a file that can't be written is worth another attempt if the disk or the load is at fault`(
    number: Int32, isTemporary: Bool
  ) {
    let error = ConfigurationError(writing: "/data/file", SystemError(number))
    #expect(error.isTemporary == isTemporary)
    #expect("\(error)" == "/data/file can't be written: \(SystemError(number))")
    #expect(
      ConfigurationError.isTemporary(POSIXError(POSIXErrorCode(rawValue: number)!)) == isTemporary)
  }

  @Test(arguments: [
    (DatabaseError.Code.full, true), (.ioError, true), (.busy, true), (.corrupt, false),
  ])
  func `a database that fails during a command is a sentence, and worth another attempt or not`(
    code: DatabaseError.Code, isTemporary: Bool
  ) throws {
    let cause = DatabaseError(code, "the cause", extendedCode: 13, sql: "COMMIT")
    for error in [cause, Failure(cause)] as [any Error] {
      let failure = try #require(ConfigurationError(database: error))
      #expect("\(failure)" == "The database can't be used: the cause")
      #expect(failure.isTemporary == isTemporary)
    }
    #expect(ConfigurationError(database: KeyRotationError.isTheOnlyOne) == nil)
    #expect(ConfigurationError(database: SystemError(ENOSPC)) == nil)
  }

  @Test(arguments: [(DatabaseError.Code.full, true), (.busy, true), (.corrupt, false)])
  func `a policy file isn't at fault when the database is full or busy`(
    code: DatabaseError.Code, isTemporary: Bool
  ) async throws {
    let error = await #expect(throws: ConfigurationError.self) {
      try await PolicyFileReader.explaining("policies.json") {
        throw DatabaseError(code, "the cause")
      }
    }
    #expect(error?.isTemporary == isTemporary)
  }

  @Test(arguments: [
    (MoveError.failed(DatabaseError(.full, "the cause")), true), (.inUse, true),
    (.failed(DatabaseError(.corrupt, "the cause")), false), (.notEmpty(["project"]), false),
  ])
  func `a move that fails is worth another attempt or not`(error: MoveError, isTemporary: Bool) {
    #expect(error.isTemporary == isTemporary)
  }

  @Test func `a key file that's too large, endless, or unreadable is refused with the reason`()
    async throws
  {
    try await withFolder { folder in
      func problem(_ path: String) throws -> String {
        "\(try #require(throws: ConfigurationError.self) { try EvidenceKeyFile(path: path).keys() })"
      }
      let large = "\(folder)/large.pem"
      try String(repeating: "-", count: EvidenceKeyFile.mostBytes + 1)
        .write(toFile: large, atomically: false, encoding: .utf8)
      #expect(try problem(large).hasPrefix("\(large) is larger than 1\u{A0}MiB."))
      #expect(try problem("/dev/zero").hasPrefix("/dev/zero is larger than"))
      #expect(try problem(folder) == "\(folder) can't be read: Is a directory")
      let none = "\(folder)/no such\tfile"
      #expect(
        try problem(none)
          == #"\#(folder)/no such\u0009file can't be read: No such file or directory"#)
    }
  }

  @Test func `a private file has nothing of the one that a killed process left`() async throws {
    try await withFolder { folder in
      let path = "\(folder)/users.jsonl"
      let left = "\(path).partial"
      try "what a killed process left".write(toFile: left, atomically: false, encoding: .utf8)
      // Another process has it open.
      let reader = try #require(FileHandle(forReadingAtPath: left))
      let file = try PrivateFile(path)
      try file.write(Array("new".utf8))
      // Another process that writes the same file has to wait.
      let second = try #require(throws: ConfigurationError.self) { try PrivateFile(path) }
      #expect(second.isTemporary)
      try file.finish()
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["users.jsonl"])
      #expect(try reader.readToEnd() == Data("what a killed process left".utf8))
    }
  }

  @Test func `a log or lock in a missing folder is an error in the configuration`()
    async throws
  {
    try await withFolder { folder in
      let missing = try #require(throws: ServerError.self) {
        try AccessLog(path: "\(folder)/none/log")
      }
      #expect(!missing.isTemporary)
      let none = try #require(throws: ConfigurationError.self) {
        try FolderLock(path: "\(folder)/none/server.lock", isShared: false)
      }
      #expect(!none.isTemporary)
      #expect(
        "\(none)"
          == "The lock file \(folder)/none/server.lock can't be opened for writing: No such file or directory"
      )
    }
  }
}
