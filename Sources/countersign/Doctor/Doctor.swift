import Crypto
import Database
import DatabaseSQLite
import Foundation
import Host
import Identity
import Localization
import MailText

/// Examines a data folder, its configuration, and the machine, without changing anything.
struct Doctor: Sendable {
  let arguments: Arguments
  let environment: [String: String]
  var clock: @Sendable () -> KernelClock? = { KernelClock.current() }
  var freeSpace: @Sendable (DataFolder) -> Int? = { $0.freeSpace }
  var openFiles: @Sendable () -> OpenFileLimit? = { OpenFileLimit.current() }
  var now: @Sendable () -> Instant = { WallClock.system.now() }

  private var folder: DataFolder {
    DataFolder(
      path: arguments.value("data") ?? ServeConfiguration.defaultData,
      // An invalid address is a problem of the configuration.
      location: (try? DatabaseLocation(arguments)) ?? .file)
  }

  /// How far the clock may be off, in microseconds.
  private static let tolerableError = 1_000_000
  /// The free disk space that leaves room for a backup and growth, in bytes.
  private static let comfortableSpace = 1 << 30

  func findings() async -> [Finding] {
    configuration() + kernelClock() + permissions() + configuredFiles() + disk()
      + (await data()) + mail() + certificate() + limits()
  }

  private func configuration() -> [Finding] {
    do {
      let configuration = try ServeConfiguration(arguments, environment: environment)
      let problems = ConfiguredFiles(arguments, withData: false).problems
      return [
        problems.isEmpty ? .configurationValid : .configurationInvalid(problems),
        configuration.passkeys,
      ] + (configuration.ignoresBackups ? [.backupsIgnored] : [])
    } catch {
      return [.configurationInvalid(error.problems)]
    }
  }

  private func kernelClock() -> [Finding] {
    guard let clock = clock() else { return [.clockUnknown] }
    guard clock.isSynchronized else { return [.clockNotSynchronized(clock)] }
    return [clock.error > Self.tolerableError ? .clockInaccurate(clock) : .clockSynchronized(clock)]
  }

  // MARK: - Files

  private func permissions() -> [Finding] {
    let files = FileManager.default
    do { try folder.mustExistAsFolder() } catch { return [.folderUnusable(error.problems)] }
    func attributes(_ path: String) -> [FileAttributeKey: Any]? {
      try? files.attributesOfItem(atPath: DataFolder.resolved(path))
    }
    var found: [Finding] = []
    do { try folder.mustBeWritable() } catch { found.append(.folderUnusable(error.problems)) }
    for (path, wanted) in [(folder.path, 0o700)] + folder.privateFiles.map({ ($0, 0o600) }) {
      guard let attributes = attributes(path) else { continue }
      let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
      if mode & 0o077 != 0 { found.append(.accessible(path: path, mode: mode, wanted: wanted)) }
    }
    found += folder.foreignFiles
    return found.isEmpty ? [.folderPrivate] : found
  }

  private static let secretFiles = [
    "tls-key", "smtp-password-file", "sms-secret-file", DatabaseLocation.passwordFile.name,
  ]

  /// Checks who can access the files with secrets, and the backups.
  ///
  /// A group may read them, as that of the server reads the key of a certificate.
  private func configuredFiles() -> [Finding] {
    var found: [Finding] = []
    for (names, wanted) in [(Self.secretFiles + ["audit-file"], 0o640), (["backups"], 0o750)] {
      for path in names.compactMap(arguments.value) {
        // A renewed certificate is often behind a link.
        let file = DataFolder.resolved(path)
        // A file that can't be read is a problem of the configuration.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: file) else {
          continue
        }
        let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
        if mode & 0o777 & ~wanted & 0o077 != 0 {
          found.append(.accessible(path: path, mode: mode, wanted: wanted))
        }
      }
    }
    if let path = arguments.value("backups"), BackupFolder(path: path).hasKey {
      found.append(.keyBesideBackups(folder: path))
    }
    return found
  }

  private func disk() -> [Finding] {
    var found: [Finding] = []
    if let free = freeSpace(folder) {
      let file = DataFolder.resolved(folder.database)
      let size = try? FileManager.default.attributesOfItem(atPath: file)[.size]
      let wanted = max(Self.comfortableSpace, 2 * ((size as? NSNumber)?.intValue ?? 0))
      found.append(
        free < wanted ? .spaceShort(free: free, wanted: wanted) : .spaceEnough(free: free))
    }
    let backups = UpgradeBackup(folder: folder).files
    if !backups.isEmpty { found.append(.upgradeBackups(backups)) }
    let former = DatabaseSwap(data: folder.path).formerDatabases
    if !former.isEmpty { found.append(.formerDatabases(former)) }
    let drafts = folder.abandonedDrafts
    if !drafts.isEmpty { found.append(.drafts(drafts)) }
    let places = [folder.path] + (arguments.value("backups").map { [$0] } ?? [])
    let interrupted = InterruptedFiles.files(in: places)
    if !interrupted.isEmpty { found.append(.interruptedFiles(interrupted)) }
    let unverified = arguments.value("backups").map { BackupFolder(path: $0).unverified } ?? []
    if !unverified.isEmpty { found.append(.unverifiedBackups(unverified, data: folder.path)) }
    return found
  }

  // MARK: - Data

  private func data() async -> [Finding] {
    // A missing folder is a finding of its permissions.
    do { try folder.mustExistAsFolder() } catch { return [] }
    let ring: KeyRing?
    do { ring = try folder.existingKey(environment: environment) } catch {
      return [.keyInvalid(error.problems)]
    }
    let found: [Finding] = ring == nil ? [.keyMissing] : []
    do { try folder.mustHoldOpenInstance() } catch {
      return found + [.folderUnusable(error.problems)]
    }
    return found + (await database(ring))
  }

  /// How often the database is read, in case a server or a command opens it meanwhile.
  private static let attempts = 3

  private func database(_ ring: KeyRing?) async -> [Finding] {
    var found: [Finding] = []
    for _ in 0..<Self.attempts {
      let database: any InstanceDatabase
      do { database = try await folder.openForReading() } catch {
        return [.databaseUnusable(error.problems)]
      }
      found = []
      if let ring { found += await keys(ring, database) }
      found += await schema(database)
      found += await server(database)
      if arguments.has("smtp") { found += await mailBacklog(database) }
      found += await connections(database)
      found += await auditLog(database)
      let file = database as? ReadOnlySQLiteDatabase
      if let file { found += await integrity(file) }
      await database.close()
      guard file?.isOvertaken == true else { break }
    }
    return found
  }

  private func keys(_ ring: KeyRing, _ database: any InstanceDatabase) async -> [Finding] {
    do {
      guard try await Identity.isSealed(database, with: ring) else { return [.keyWrong] }
      let sample = try await SecretSample.take(database, keys: ring)
      return [sample.unreadable > 0 ? .secretsUnreadable(sample) : .keysOpen(sample)]
    } catch {
      return [Self.unusable(error)]
    }
  }

  private func schema(_ database: any InstanceDatabase) async -> [Finding] {
    do {
      var found: [Finding] = []
      let (shown, stored) = (now(), try await Identity.latestTime(database))
      if let stored, shown.seconds + ClockGuard.furthestBehind < stored.seconds {
        found.append(.clockBehind(shown: shown, stored: stored))
      }
      let pending = try await Identity.pendingMigrations(of: database)
      try await Identity.checkSchema(of: database)
      found.append(
        pending.isEmpty ? .schemaCurrent : .schemaPending(pending, data: folder.path))
      if try await Identity.replacedMFAValues(in: database) { found.append(.mfaValuesReplaced) }
      return found + (try await Identity.searchIndexFaults(of: database).map(Finding.searchIndex))
    } catch {
      return [Self.unusable(error)]
    }
  }

  private static func unusable(_ error: any Error) -> Finding {
    let problem = ConfigurationError.starting(error) as? ConfigurationError
    return .schemaUnusable(problem?.problems.first ?? .verbatim("\(error)"))
  }

  private func server(_ database: any InstanceDatabase) async -> [Finding] {
    // A database that can't be read is a finding of its schema.
    guard let settings = try? await database.serverSettings() else { return [] }
    let nodes = (try? await Nodes.count(on: database, at: now())) ?? 0
    return Finding.findings(settings, nodes: nodes)
  }

  /// How long before now emails that failed are findings, in seconds.
  private static let failurePeriod: Int64 = 86_400

  private func mailBacklog(_ database: any InstanceDatabase) async -> [Finding] {
    let now = now()
    let since = now.advanced(bySeconds: -Self.failurePeriod)
    // A database that can't be read is a finding of its schema.
    guard let mail = try? await Identity.mailBacklog(of: database, since: since) else { return [] }
    var found: [Finding] = []
    if let oldest = mail.oldest, now.seconds - oldest.seconds > Readiness.longestMailAge {
      found.append(.mailWaiting(minutes: Int(now.seconds - oldest.seconds) / 60))
    }
    if mail.failed > 0 { found.append(.mailFailed(mail.failed)) }
    return found
  }

  private func connections(_ database: any InstanceDatabase) async -> [Finding] {
    // A database that can't be read is a finding of its schema.
    let all = (try? await Connections.list(in: database)) ?? []
    return all.filter { $0.state != .disconnected }.flatMap { known in
      let days = Int((now().seconds - known.credentialAt.seconds) / 86_400)
      let age = Message("The credential is {days} days old. Replace it.", ["days": .number(days)])
      let texts = [known.causeText, days > ProjectConnection.longestCredentialAge ? age : nil]
      return texts.compactMap { $0 }.map { Finding.connection(project: known.project.text, $0) }
    }
  }

  /// Looks for entries of the audit log that wait to be sealed, or to be written to the audit file.
  private func auditLog(_ database: any InstanceDatabase) async -> [Finding] {
    let now = now()
    var found: [Finding] = []
    // A database that can't be read is a finding of its schema. Without a server, nothing is sealed.
    let delay = (try? await AuditChain.delay(of: database, at: now)) ?? nil
    if let delay, !delay.holders.isEmpty { found.append(.auditNotSealed(delay)) }
    guard let path = arguments.value("audit-file") else { return found }
    let isOutput = path == "-"
    let folder = URL(filePath: DataFolder.resolved(path)).deletingLastPathComponent().path
    let files = FileManager.default
    if !isOutput, !files.isWritableFile(atPath: files.fileExists(atPath: path) ? path : folder) {
      found.append(.auditFileUnwritable(path: path))
    }
    do {
      let place = isOutput ? self.folder.auditFilePosition : AuditFileOutput.position(of: path)
      // Without one, the server hasn't written the file yet.
      if let position = try AuditFileWriter.position(in: place),
        let oldest = try await position.oldestUnwritten(in: database),
        Double(now.seconds - oldest.seconds) > AuditFileWriter.longestLag
      {
        found.append(
          .auditFileBehind(path: path, minutes: Int(now.seconds - oldest.seconds) / 60))
      }
    } catch let error as ConfigurationError {
      found.append(.auditFilePosition(error.problems))
    } catch {}
    return found.isEmpty ? [.auditFileWritten(path: path)] : found
  }

  private func integrity(_ database: ReadOnlySQLiteDatabase) async -> [Finding] {
    do {
      let faults = try await database.quickCheck(most: IntegrityChecks.mostFaults)
      return [faults.isEmpty ? .intact : .damaged(faults)]
    } catch {
      return [.damaged([(error as? DatabaseError)?.message ?? "\(error)"])]
    }
  }

  // MARK: - Surroundings

  private func mail() -> [Finding] {
    // Invalid settings are problems of the configuration.
    guard let address = arguments.value("smtp") else { return [.mailOff] }
    let configuration = try? ServeConfiguration(arguments, environment: environment)
    // The address may have a password, by mistake.
    return configuration?.mail == nil ? [] : [.mailConfigured(server: address)]
  }

  private func certificate() -> [Finding] {
    guard let path = arguments.value("tls-certificate") else { return [.plainHTTP] }
    let problems = ConfiguredFiles.certificateProblems(arguments)
    guard problems.isEmpty, let data = FileManager.default.contents(atPath: path) else {
      return [.certificateUnusable(problems)]
    }
    return Certificate.all(inPEM: Array(data)).map { certificate in
      CertificateWatch.warning(certificate, at: now().seconds).map(Finding.certificateWarning)
        ?? .certificateValid(certificate)
    }
  }

  private func limits() -> [Finding] {
    guard let limit = openFiles() else { return [] }
    let connections = arguments.value("max-connections").flatMap { Int($0) }
    let wanted = NetworkConfiguration.openFiles(connections: connections)
    return [
      limit.hard < wanted
        ? .openFilesFew(hard: limit.hard, wanted: wanted) : .openFilesEnough(hard: limit.hard)
    ]
  }
}

extension DataFolder {
  var privateFiles: [String] { databaseFiles + [key] }

  /// Returns a finding for each file that the server opens and that doesn't belong to the folder's
  /// owner, whose server couldn't start with it.
  var foreignFiles: [Finding] {
    guard let owner = Self.owner(of: path) else { return [] }
    return (privateFiles + [serverLock, keysLock, auditFilePosition]).compactMap { file in
      guard let other = Self.owner(of: file), other != owner else { return nil }
      return .otherOwner(path: file, owner: other, folderOwner: owner)
    }
  }

  private static func owner(of path: String) -> Int? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: resolved(path))
    return (attributes?[.ownerAccountID] as? NSNumber)?.intValue
  }
}
