import Crypto
import Database
import DatabaseSQLite
import Foundation
import Glibc
import Identity
import Testing

@testable import countersign
@testable import Host

struct DoctorTests {
  private static let synchronized = KernelClock(
    isSynchronized: true, offset: 0, maximumError: 1_500)

  /// Runs the doctor on a new instance after a change to its folder, and returns the findings of
  /// one check.
  private func findings(
    _ check: Finding.Check, _ words: [String] = [], clock: KernelClock? = synchronized,
    openFiles: Int = 1 << 20, free: Int = 1 << 40, now: Instant? = nil,
    change: (DataFolder) async throws -> Void = { _ in }
  ) async throws -> [Finding] {
    try await withFolder { parent in
      let folder = DataFolder(path: "\(parent)/data")
      try #require(
        await Countersign.run(["init", "--data", folder.path], environment: [:]) == 0)
      try await change(folder)
      var doctor = Doctor(
        arguments: try Arguments(
          ["--data", folder.path] + words, options: DoctorCommand.options),
        environment: [:])
      doctor.clock = { clock }
      doctor.freeSpace = { _ in free }
      doctor.openFiles = { OpenFileLimit(soft: openFiles, hard: openFiles) }
      if let now { doctor.now = { now } }
      return await doctor.findings().filter { $0.check == check }
    }
  }

  private func severities(_ findings: [Finding]) -> [Finding.Severity] { findings.map(\.severity) }

  private func text(_ findings: [Finding]) -> String {
    findings.map { OperatorText.string($0.message) }.joined(separator: "\n")
  }

  @Test func `a new instance has no errors`() async throws {
    for check in [.configuration, .permissions, .keys, .schema, .integrity] as [Finding.Check] {
      let found = try await findings(check)
      #expect(!found.isEmpty && severities(found).allSatisfy { $0 == .ok })
    }
  }

  @Test func `V10: a clock that isn't synchronized is a warning`() async throws {
    let off = KernelClock(isSynchronized: false, offset: 0, maximumError: 16_000_000)
    let found = try await findings(.clock, clock: off)
    let unknown = try await findings(.clock, clock: nil)
    let fine = try await findings(.clock)
    #expect(severities(found) == [.warning])
    #expect(severities(unknown) == [.warning])
    #expect(text(fine) == "The clock is synchronized (offset 0 ms, maximum error 2 ms).")
    #expect(found[0].advice != nil)
  }

  @Test func `V10: a clock that may be off by more than a second is a warning`() async throws {
    for (offset, error) in [(-1_000_001, 500), (0, 1_000_001)] {
      let off = KernelClock(isSynchronized: true, offset: offset, maximumError: error)
      let found = try await findings(.clock, clock: off)
      #expect(severities(found) == [.warning])
      #expect(found[0].advice != nil)
    }
    let behind = KernelClock(isSynchronized: true, offset: -1_000_000, maximumError: 500)
    let fine = try await findings(.clock, clock: behind)
    #expect(severities(fine) == [.ok])
    #expect(text(fine) == "The clock is synchronized (offset -1000 ms, maximum error 1 ms).")
  }

  @Test func `a clock behind the newest stored time is an error`() async throws {
    let found = try await findings(.clock, now: Instant(microseconds: 0))
    #expect(severities(found) == [.ok, .error])
  }

  @Test func `files that others can read are errors`() async throws {
    let found = try await findings(.permissions) { folder in
      for path in [folder.path, folder.database] {
        try FileManager.default.setAttributes(
          [.posixPermissions: 0o755], ofItemAtPath: path)
      }
    }
    #expect(severities(found) == [.error, .error])
    let advice = try #require(found.last?.advice)
    #expect(OperatorText.string(advice).hasPrefix("Run chmod 600 /"))
  }

  @Test func `a missing and a wrong master key are errors`() async throws {
    let missing = try await findings(.keys) { folder in
      try FileManager.default.removeItem(atPath: folder.key)
    }
    let wrong = try await findings(.keys) { folder in
      try FileManager.default.removeItem(atPath: folder.key)
      try folder.store(KeyRing(random: .system))
    }
    guard case .keyMissing = missing.first, case .keyWrong = wrong.first else {
      Issue.record("\(text(missing)) \(text(wrong))")
      return
    }
  }

  @Test func `an empty folder is an error`() async throws {
    let found = try await findings(.permissions) { folder in
      try FileManager.default.removeItem(atPath: folder.database)
    }
    #expect(severities(found).max() == .error)
  }

  @Test func `a missing folder is one finding`() async throws {
    try await withFolder { folder in
      let doctor = Doctor(
        arguments: try Arguments(["--data", "\(folder)/none"], options: DoctorCommand.options),
        environment: [:])
      let found = await doctor.findings().filter { $0.severity == .error }
      #expect(text(found).contains("\(folder)/none"))
      #expect(found.map(\.check) == [.permissions])
    }
  }

  @Test func `files with secrets that others can read are errors, whatever their option`()
    async throws
  {
    try await withFolder { folder in
      let file = "\(folder)/secret"
      try Data("secret".utf8).write(to: URL(filePath: file))
      let link = "\(folder)/link"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
      let names = ["smtp-password-file", "sms-secret-file", "tls-key", "database-password-file"]
      for (mode, name) in names.flatMap({ name in [(0o640, name), (0o644, name), (0o660, name)] }) {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        let found = try await findings(.permissions, ["--\(name)", link])
        #expect(severities(found) == (mode == 0o640 ? [.ok] : [.ok, .error]), "\(name)")
        if mode == 0o644 { #expect(text(found).contains("\(link) (mode 644)")) }
      }
    }
  }

  @Test func `backups that others can read, or that are next to a key, are errors`() async throws {
    try await withFolder { folder in
      let words = ["--backups", folder]
      let fine = try await findings(.permissions, words)
      #expect(severities(fine) == [.ok])
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
      let open = try await findings(.permissions, words)
      #expect(severities(open) == [.ok, .error])
      try FileManager.default.setAttributes([.posixPermissions: 0o750], ofItemAtPath: folder)
      try Data("key".utf8).write(to: URL(filePath: "\(folder)/master.key"))
      let beside = try await findings(.permissions, words)
      #expect(severities(beside) == [.ok, .error])
      #expect(text(beside).contains("\(folder) has a master.key."))
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
  func `a file of another owner is an error`() async throws {
    let found = try await findings(.permissions) { folder in
      _ = unsafe chown(folder.database, 65_534, 65_534)
    }
    #expect(severities(found) == [.error])
    #expect(text(found).contains("belongs to user 65534"))
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
  func `a file of another owner is an error, whichever the server opens`() async throws {
    let found = try await findings(.permissions) { folder in
      try Data().write(to: URL(filePath: folder.keysLock))
      for file in [folder.serverLock, folder.keysLock] {
        #expect(unsafe chown(file, 65_534, 65_534) == 0)
      }
    }
    #expect(severities(found) == [.error, .error])
    for name in ["server.lock", "keys.lock"] {
      #expect(text(found).contains("/\(name) belongs to user 65534"))
    }
  }

  @Test func `a database that a server still has open isn't restored`() async throws {
    try await withFolder { parent in
      let folder = DataFolder(path: "\(parent)/data")
      try #require(await Countersign.run(["init", "--data", folder.path], environment: [:]) == 0)
      func said() async throws -> String {
        let doctor = Doctor(
          arguments: try Arguments(["--data", folder.path], options: DoctorCommand.options),
          environment: [:])
        return text(await doctor.findings())
      }
      let lock = try folder.lock()
      try FileManager.default.removeItem(atPath: folder.database)
      #expect(try await said().contains("Don't stop a server"))
      #expect(try await !said().contains("countersign restore"))
      let error = #expect(throws: ConfigurationError.self) { try folder.lock() }
      #expect(error?.exitCode == 75 && error?.description.contains("Don't stop a server") == true)
      lock.release()
      #expect(try await said().contains("countersign restore"))
    }
  }

  @Test func `backups of the file aren't those of a database on a server`() async throws {
    let words = ["--backups", "/", "--database", "postgresql://countersign@127.0.0.1:1/x"]
    let found = try await findings(.configuration, words)
    #expect(severities(found) == [.ok, .ok, .warning])
    #expect(text(found).contains("--backups has no effect"))
  }

  @Test func `little space is a warning, and less than the server needs an error`() async throws {
    let short = try await findings(.disk, free: 512 << 20)
    let none = try await findings(.disk, free: Readiness.leastSpace - 1)
    let enough = try await findings(.disk)
    #expect(severities(short) == [.warning])
    #expect(severities(none) == [.error])
    #expect(severities(enough) == [.ok])
    #expect(text(short).hasPrefix("512 MiB is free. 1024 MiB"))
  }

  @Test func `backups of earlier upgrades are a warning`() async throws {
    let found = try await findings(.disk) { folder in
      try Data().write(to: URL(filePath: "\(folder.path)/before-upgrade-20260101T000000Z.sqlite"))
    }
    #expect(severities(found) == [.ok, .warning])
    #expect(text(found).hasSuffix("before-upgrade-20260101T000000Z.sqlite"))
  }

  @Test func `databases that a restore replaced are a warning`() async throws {
    let found = try await findings(.disk) { folder in
      for name in ["before-restore-20260101T000000Z", "before-restore-mine"] {
        try FileManager.default.createDirectory(
          atPath: "\(folder.path)/\(name)", withIntermediateDirectories: false)
      }
    }
    #expect(severities(found) == [.ok, .warning])
    #expect(text(found).hasSuffix("/before-restore-20260101T000000Z"))
  }

  @Test func `the copy that a killed restore left is a warning, unless one is running`()
    async throws
  {
    func withDraft(_ folder: DataFolder) throws {
      try FileManager.default.createDirectory(
        atPath: DatabaseSwap(data: folder.path).draft, withIntermediateDirectories: false)
    }
    let found = try await findings(.disk) { try withDraft($0) }
    #expect(severities(found) == [.ok, .warning])
    #expect(text(found).hasSuffix("/restore.draft"))
    try await withFolder { path in
      let folder = DataFolder(path: path)
      try withDraft(folder)
      let lock = try #require(try folder.lockIfFree())
      #expect(folder.abandonedDrafts == [])
      lock.release()
      #expect(folder.abandonedDrafts.count == 1)
      try folder.finishRestore(holding: try folder.lock())
      #expect(folder.abandonedDrafts == [])
    }
  }

  @Test func `what interrupted commands left, and unverified backups, are warnings`() async throws {
    try await withFolder { backups in
      try Data().write(to: URL(filePath: "\(backups)/monday.sqlite.partial"))
      try Data().write(to: URL(filePath: "\(backups)/tuesday.sqlite.unverified"))
      let found = try await findings(.disk, ["--backups", backups]) { folder in
        for name in ["users.json.partial", "backup.draft-7"] {
          try Data().write(to: URL(filePath: "\(folder.path)/\(name)"))
        }
      }
      #expect(severities(found) == [.ok, .warning, .warning])
      let names = ["users.json", "backup.draft-7", "monday", "tuesday"]
      #expect(names.allSatisfy { text(found).contains("/\($0)") })
    }
  }

  @Test func `the data folder stays as it is`() async throws {
    try await withFolder { parent in
      let folder = DataFolder(path: "\(parent)/data")
      try #require(await Countersign.run(["init", "--data", folder.path], environment: [:]) == 0)
      let files = FileManager.default
      let before = try files.contentsOfDirectory(atPath: folder.path).sorted()
      #expect(await Countersign.run(["doctor", "--data", folder.path], environment: [:]) != 2)
      #expect(try files.contentsOfDirectory(atPath: folder.path).sorted() == before)
    }
  }

  @Test func `a pending migration is a warning`() async throws {
    let found = try await findings(.schema) { folder in
      let database = try SQLiteDatabase(path: folder.database)
      try await database.write { connection in
        try connection.run("DELETE FROM schema_migration WHERE name > 'm0069_baseline'")
        try connection.run("UPDATE schema_migration SET name = 'm0068_suspended_users'")
      }
      await database.close()
    }
    #expect(severities(found) == [.warning])
    #expect(text(found).hasPrefix("Pending migrations: m00"))
  }

  @Test func `a damaged page is an error`() async throws {
    let found = try await findings(.integrity) { folder in
      let file = try #require(FileHandle(forUpdatingAtPath: folder.database))
      let end = try file.seekToEnd()
      try file.seek(toOffset: end - 4_096)
      try file.write(contentsOf: Data(repeating: 0xFF, count: 4_096))
      try file.close()
    }
    #expect(severities(found) == [.error])
    #expect(found[0].advice != nil)
  }

  @Test func `the mail server is named, and isn't contacted`() async throws {
    let words = ["--smtp", "smtp://mail.invalid", "--smtp-from", "mfa@example.com"]
    let found = try await findings(.mail, words)
    #expect(severities(found) == [.ok])
    #expect(text(found) == "The mail server is smtp://mail.invalid. It wasn't contacted.")
  }

  @Test func `an address without a host name has no passkeys`() async throws {
    let impossible = try await findings(.configuration, ["--listen", "127.0.0.1:8080"])
    let words = ["--public-url", "https://mfa.example.com"]
    let possible = try await findings(.configuration, words)
    #expect(text(impossible).contains("Administrators can't use passkeys at http://127.0.0.1:8080"))
    #expect(text(possible).contains("bound to the hostname mfa.example.com"))
    #expect(severities(impossible + possible).allSatisfy { $0 == .ok })
  }

  @Test func `a certificate that expires soon is a warning`() async throws {
    try await withFolder { folder in
      let words = ["--tls-certificate", "\(folder)/c.pem", "--tls-key", "\(folder)/k.pem"]
      try Data(Self.certificate.utf8).write(to: URL(filePath: words[1]))
      try Data(Self.key.utf8).write(to: URL(filePath: words[3]))
      let valid = try await findings(.certificate, words)
      #expect(severities(valid) == [.ok])
      let parsed = try #require(Certificate.all(inPEM: Array(Self.certificate.utf8)).first)
      let late = Instant(seconds: parsed.notAfter - 86_400)
      let found = try await findings(.certificate, words, now: late)
      #expect(severities(found) == [.warning])
      #expect(found[0].advice != nil)
    }
  }

  static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBbjCCARWgAwIBAgIUY4ELI3Dim3ikZaRIN4THt5AxgccwCgYIKoZIzj0EAwIw
    DDEKMAgGA1UEAwwBYTAgFw0yNjExMjIwMjE3MDlaGA8yMTI2MTAyOTAyMTcwOVow
    DDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKpzxDLdAMF2
    4dDnVZgXT/Pjmvo0l+8lldRrXvTle3JWz6BgaILol8NPP4/dd9sKdNwvyM3T2ZOO
    QNMjQ/yWZVijUzBRMB0GA1UdDgQWBBR23hRl7futVqJIpzFmH/YYP7cY3DAfBgNV
    HSMEGDAWgBR23hRl7futVqJIpzFmH/YYP7cY3DAPBgNVHRMBAf8EBTADAQH/MAoG
    CCqGSM49BAMCA0cAMEQCIE/uxoklrXBRB8Wy2ZYUQG7fl14Zk/7Zg2yrVYYZGnio
    AiB8m2s8RT/Ofzdf+xdY1ITQ1Qt50eQh2JN//GWfFUOHqQ==
    -----END CERTIFICATE-----
    """
  static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgqQHUi7H3Elab7DDq
    1ARrPiT3ieMkNJJElDl2+Jkj6EqhRANCAASqc8Qy3QDBduHQ51WYF0/z45r6NJfv
    JZXUa1705XtyVs+gYGiC6JfDTz+P3XfbCnTcL8jN09mTjkDTI0P8lmVY
    -----END PRIVATE KEY-----
    """

  @Test func `few open files are a warning`() async throws {
    let found = try await findings(.openFiles, openFiles: 1_024)
    let few = try await findings(.openFiles, ["--max-connections", "10"], openFiles: 1_034)
    #expect(severities(found) == [.warning])
    #expect(severities(few) == [.ok])
  }

  @Test func `an invalid configuration is an error with every problem`() async throws {
    let found = try await findings(.configuration, ["--profile", "x", "--tls-key", "k"])
    #expect(severities(found) == [.error])
    #expect(text(found).contains("--profile") && text(found).contains("--tls-key"))
  }

  @Test func `an unreadable certificate is an error`() async throws {
    let words = ["--tls-certificate", "/nowhere.pem", "--tls-key", "/nowhere.key"]
    let found = try await findings(.certificate, words)
    #expect(severities(found) == [.error])
  }

  @Test func `the exit code is that of the worst finding`() async throws {
    try await withFolder { folder in
      let words = ["doctor", "--data", "\(folder)/none"]
      #expect(await Countersign.run(words, environment: [:]) == 2)
      #expect(await Countersign.run(words + ["--json"], environment: [:]) == 2)
    }
  }
}
