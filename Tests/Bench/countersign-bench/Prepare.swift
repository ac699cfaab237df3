import Crypto
import DatabaseSQLite
import Foundation
import Identity
import LargeDemo
import OTP

/// Prepares data folders and requests for the benchmark.
///
/// - `countersign-bench prepare DIR PROFILE` creates a project with 60 tenants, a signed-in owner,
///   and a service token, and prints the credentials as JSON.
/// - `countersign-bench crowd DIR` does the same with 50 projects, 1,000 tenants in one of them,
///   and 5,000 users.
/// - `countersign-bench large DIR USERS` creates the large demo: a pool with USERS users.
/// - `countersign-bench metropolis DIR USERS CODES` does the same with CODES code attempts per user,
///   and a project with 1,000 tenants.
/// - `countersign-bench visit DIR` signs in an owner to the data of either, and prints the users to
///   open as JSON.
/// - `countersign-bench seal DIR PROFILE COUNT FILE` enrolls COUNT users and writes one line for
///   each: a `mfaSignIn:finalize` body with a valid pending credential and an unused code, so that
///   the benchmark hashes no password.
/// - `countersign-bench audit DIR COUNT` writes COUNT audit log entries, seals and verifies them, and
///   prints the seconds that each step took as JSON.
@main
struct Prepare {
  static let project = ID<Project>("bench-project")
  static let window = 10

  static func main() async throws {
    let words = Array(CommandLine.arguments.dropFirst())
    switch words.first {
    case "prepare" where words.count == 3:
      try await prepare(folder: words[1], profile: words[2])
    case "crowd" where words.count == 2:
      try await crowd(folder: words[1])
    case "large" where words.count == 3:
      try await large(folder: words[1], users: Int(words[2]) ?? 0, codes: 3)
    case "metropolis" where words.count == 4:
      try await large(
        folder: words[1], users: Int(words[2]) ?? 0, codes: Int(words[3]) ?? 0
      ) { try await Metropolis(identity: $0).finish() }
    case "audit" where words.count == 3:
      try await audit(folder: words[1], count: Int(words[2]) ?? 0)
    case "visit" where words.count == 2:
      try await visit(folder: words[1])
    case "seal" where words.count == 5:
      try await seal(
        folder: words[1], profile: words[2], count: Int(words[3]) ?? 0, file: words[4])
    default:
      FileHandle.standardError.write(
        Data(
          "countersign-bench prepare DIR PROFILE | crowd DIR | large DIR USERS | metropolis DIR USERS CODES | audit DIR COUNT | visit DIR | seal DIR PROFILE COUNT FILE\n"
            .utf8))
      exit(64)
    }
  }

  private static func open(
    _ folder: String, _ profile: String, clock: WallClock = .system
  ) async throws -> (Identity, SQLiteDatabase) {
    let database = try SQLiteDatabase(path: "\(folder)/countersign.sqlite")
    let key = try String(contentsOfFile: "\(folder)/master.key", encoding: .utf8)
    let identity = try Identity(
      database: database, keys: try KeyRing(text: key),
      profile: Profile(rawValue: profile) ?? .standalone, hasher: PasswordHasher(width: 2),
      mail: NoText(), clock: clock, defaultProject: project)
    try await identity.prepare()
    return (identity, database)
  }

  private static func prepare(folder: String, profile: String) async throws {
    let (facts, _, database) = try await make(folder: folder, profile: profile)
    await database.close()
    FileHandle.standardOutput.write(try JSONEncoder().encode(facts))
  }

  private static func crowd(folder: String) async throws {
    var (facts, identity, database) = try await make(folder: folder, profile: "standalone")
    facts["user"] = try await Crowd(identity: identity).fill(project)
    await database.close()
    FileHandle.standardOutput.write(try JSONEncoder().encode(facts))
  }

  private static func audit(folder: String, count: Int) async throws {
    let (_, identity, database) = try await make(folder: folder, profile: "standalone")
    let seconds = try await AuditLog(identity: identity).measure(count)
    await database.close()
    FileHandle.standardOutput.write(try JSONEncoder().encode(seconds))
  }

  private static func large(
    folder: String, users: Int, codes: Int,
    finish: @Sendable (Identity) async throws -> Void = { _ in }
  ) async throws {
    try makeFolder(folder)
    let (identity, database) = try await open(folder, Profile.standalone.rawValue)
    let keys = try KeyRing(text: String(contentsOfFile: "\(folder)/master.key", encoding: .utf8))
    let demo = try LargeDemo(
      users: users, codes: codes, database: database, keys: keys,
      hasher: PasswordHasher(width: 2), mail: NoText())
    _ = try await demo.fill { line in
      FileHandle.standardError.write(Data("\(line)\n".utf8))
    }
    try await finish(identity)
    await database.close()
  }

  /// Creates a data folder with a master key, unless it has one.
  private static func makeFolder(_ folder: String) throws {
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let key = "\(folder)/master.key"
    if !FileManager.default.fileExists(atPath: key) {
      _ = FileManager.default.createFile(
        atPath: key, contents: Data(KeyRing(random: .system).text.revealedBytes),
        attributes: [.posixPermissions: 0o600])
    }
  }

  private static func make(
    folder: String, profile: String
  ) async throws -> ([String: String], Identity, SQLiteDatabase) {
    try makeFolder(folder)
    let (identity, database) = try await open(folder, profile)
    let author = Author(actor: .commandLine)
    if profile == Profile.standalone.rawValue {
      _ = try await identity.pools.createProject(
        id: project.text, displayName: "Bench", by: .program(author))
    }
    for number in 1...60 {
      _ = try await identity.pools.createTenant(
        in: project,
        PoolEdit(
          displayName: "tenant-\(number)",
          configuration: MFAConfiguration(
            state: .enabled,
            totp: TOTPConfiguration(state: .enabled, adjacentIntervals: number % 11))),
        by: .program(author))
    }
    let password = Secret("correct horse battery staple")
    let session = try await signIn(identity, password)
    let token = try await identity.serviceTokens.create(
      project: project, tenant: nil, role: .owner, name: "bench",
      by: .program(Author(actor: .commandLine))
    ).value
    let pool = try await identity.pools.find(project: project)
    var user = NewAccount()
    user.email = "user@example.com"
    user.password = password
    user.emailVerified = true
    _ = try await identity.accounts.create(pool, user, by: .program(author))
    let keys = try await identity.apiKeys.list(project)
    let facts = [
      "cookie": session.token.revealedText, "token": token.secret.revealedText,
      "apiKey": keys.first?.text ?? "",
    ]
    return (facts, identity, database)
  }

  /// Creates an owner and signs them in.
  private static func signIn(
    _ identity: Identity, _ password: Secret
  ) async throws -> NewConsoleSession {
    _ = try await identity.administrators.create(
      email: "owner@example.com", displayName: "Owner", password: password,
      grant: Grant(role: .owner), by: Author(actor: .commandLine))
    let outcome = try await identity.consoleSessions.signIn(
      email: "owner@example.com", password: password, address: "127.0.0.1", userAgent: "bench")
    // An owner's first sign-in requires no code.
    guard case .signedIn(let session) = outcome else { exit(70) }
    return session
  }

  /// Prints a session, and users of all kinds in two pools, of a large demo.
  private static func visit(folder: String) async throws {
    let (identity, database) = try await open(folder, Profile.standalone.rawValue)
    let session = try await signIn(identity, Secret("correct horse battery staple"))
    let large = try await identity.pools.existing(project: ID("metropolis"))
    let tenants = try await identity.pools.tenants(project: large.project)
    guard let village = tenants.items.first else { exit(70) }
    var facts: [String: [String]] = [
      "cookie": [session.token.revealedText], "tenant": [village.pool.objectID],
    ]
    for (name, pool) in [("large", large), ("village", village.pool)] {
      var users: [String] = []
      for filter in [Accounts.Filter.totp, .phone, .none, .locked] {
        users += try await identity.accounts.list(pool, filter: filter, limit: 10).items
          .map(\.id.text)
      }
      facts[name] = users
      facts["\(name)-special"] = try await identity.accounts.lookup(
        pool, emails: ["five-factors@example.com", "no-factor@example.com"]
      ).map(\.id.text)
    }
    await database.close()
    FileHandle.standardOutput.write(try JSONEncoder().encode(facts))
  }

  private static func seal(
    folder: String, profile: String, count: Int, file: String
  ) async throws {
    // Enrolled a day ago, so that current codes are unused and each sign-in is the day's first.
    let past = WallClock.system.now().advanced(bySeconds: -86_400)
    let (earlier, before) = try await open(folder, profile, clock: WallClock { past })
    let author = Author(actor: .commandLine)
    _ = try await earlier.policies.change(
      try await earlier.pools.find(project: project), by: .program(author)
    ) {
      $0.configuration = MFAConfiguration(
        state: .enabled, totp: TOTPConfiguration(state: .enabled, adjacentIntervals: window))
    }
    let pool = try await earlier.pools.find(project: project)
    var enrolled: [(Account, Secret)] = []
    enrolled.reserveCapacity(count)
    for start in stride(from: 0, to: count, by: 64) {
      let part = try await withThrowingTaskGroup(of: (Account, Secret).self) { group in
        for _ in start..<min(start + 64, count) {
          group.addTask { try await enroll(earlier, pool, author) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      enrolled += part
    }
    await before.close()
    let (identity, database) = try await open(folder, profile)
    let now = identity.clock.now().seconds
    var lines = ""
    // Users don't sign in in the order of their creation, next to each other in every index.
    for (account, secret) in enrolled.shuffled() {
      guard let factor = account.factors.first, let password = OneTimePassword(secret: secret)
      else { continue }
      let pending = try identity.signIns.pendingCredential(pool, account)
      let code = try password.code(step: password.step(at: now) + 4)
      lines += """
        {"mfaPendingCredential":"\(pending)","mfaEnrollmentId":"\(factor.id)",\
        "totpVerificationInfo":{"verificationCode":"\(code)"}}

        """
    }
    await database.close()
    try lines.write(toFile: file, atomically: true, encoding: .utf8)
  }

  static func enroll(
    _ identity: Identity, _ pool: Pool, _ author: Author
  ) async throws -> (Account, Secret) {
    var user = NewAccount()
    let name = RandomSource.system.token(bytes: 12)
    user.email = "\(name)@example.com"
    user.emailVerified = true
    let account = try await identity.accounts.create(pool, user, by: .program(author)).value
    let moment = identity.clock.now()
    let session = UserSession(
      pool: pool, account: account.id, authTime: moment.seconds, provider: .password)
    let start = try await identity.enrollments.start(session)
    let secret = Secret(Base32.decode(start.sharedSecret.revealedText) ?? [])
    guard let password = OneTimePassword(secret: secret) else {
      throw CocoaError(.coderInvalidValue)
    }
    let grant = try await identity.enrollments.finalize(
      session, sessionInfo: start.sessionInfo,
      code: try TypedCode(password.code(step: password.step(at: moment.seconds))),
      displayName: "bench",
      by: author)
    return (grant.account, secret)
  }
}
