import Crypto
import Demo
import Foundation
import Identity
import Localization
import OTP

enum DemoCommand: Command {
  static let name = "demo"
  static let summary = Message(
    "fills an empty data folder with demo data, the same as serve --demo")
  static let options = [
    Option("data", "DIR", help: Message("The data folder. Must be empty; created if missing.")),
    Option(
      "seed", "N", variable: false, help: Message("Seed of the generated data (default: 30).")),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let path = try arguments.required("data")
    let seed = try arguments.value("seed").map(seed) ?? Demo.standardSeed
    // The variable of the other commands would otherwise be ignored.
    let database = DatabaseLocation.url.variable.flatMap { ProcessInfo.processInfo.environment[$0] }
    guard database?.isEmpty ?? true else {
      throw ConfigurationError(
        Message(
          """
          countersign demo creates a database in the data folder. Remove COUNTERSIGN_DATABASE, or \
          use countersign serve --demo for a demo with a database on a server.
          """))
    }
    let folder = DataFolder(path: path)
    try folder.prepare()
    // An unfinished demo would be served as a complete one, so it's moved into place at the end.
    let unfinished = DataFolder(path: "\(path)/unfinished")
    try discardInterrupted(unfinished, in: folder)
    try folder.mustBeEmpty()
    try unfinished.prepare()
    let lock = try unfinished.lock()
    defer { lock.release() }
    let instance: Instance
    do {
      instance = try await Instance.open(
        unfinished, assets: .ofCommands, profile: .standalone, creates: true, environment: [:])
    } catch {
      throw ConfigurationError.starting(error)
    }
    let began = ContinuousClock.now
    let summary: DemoSummary
    do {
      summary = try await instance.database.closing {
        try await Demo(
          database: instance.database, keys: instance.keys, hasher: instance.hasher,
          mail: instance.mail, seed: seed
        ).fill()
      }
    } catch {
      throw ConfigurationError(database: error) ?? ConfigurationError(.verbatim("\(error)"))
    }
    try unfinished.move(to: folder)
    Terminal.say(
      Message(
        "Created in {seconds} s.",
        ["seconds": .text("\((ContinuousClock.now - began).components.seconds)")]))
    DemoGreeting(summary: summary, seed: seed).say(beforeServing: path)
    return 0
  }

  /// Deletes the files of a demo that was interrupted, if there's nothing else in the folder.
  private static func discardInterrupted(_ unfinished: DataFolder, in folder: DataFolder) throws {
    let files = FileManager.default
    guard try files.contentsOfDirectory(atPath: folder.path) == ["unfinished"],
      DataFolder.isFolder(unfinished.path)
    else { return }
    let own =
      [unfinished.key, unfinished.serverLock]
      + (DatabaseSwap.suffixes + ["-journal"]).map { unfinished.database + $0 }
    let held = try files.contentsOfDirectory(atPath: unfinished.path)
    guard held.allSatisfy({ own.contains("\(unfinished.path)/\($0)") }) else { return }
    let lock = try unfinished.lock()
    defer { lock.release() }
    try files.removeItem(atPath: unfinished.path)
  }

  private static func seed(_ text: String) throws(UsageError) -> UInt64 {
    guard let seed = UInt64(text) else {
      throw UsageError(Message("--seed must be a whole number, not {text}", ["text": .text(text)]))
    }
    return seed
  }
}

/// Creates a demo before the server listens, and prints how to sign in to it.
struct DemoGreeting: Sendable {
  let summary: DemoSummary
  let seed: UInt64

  /// Fills the instance when `--demo` is set; the greeting is nil otherwise.
  ///
  /// A folder filled by an earlier demo isn't served beyond loopback, even without `--demo`.
  static func create(
    _ configuration: ServeConfiguration, _ instance: Instance
  ) async throws -> DemoGreeting? {
    do {
      guard let seed = configuration.demo else {
        let problems = try await instance.identity.isDemo() ? configuration.demoExposure : []
        guard problems.isEmpty else { throw ConfigurationError(problems) }
        return nil
      }
      let demo = try Demo(
        database: instance.database, keys: instance.keys, hasher: instance.hasher,
        mail: instance.mail,
        publicURL: configuration.port == 0 ? "" : configuration.address(port: configuration.port),
        seed: seed)
      return DemoGreeting(summary: try await demo.fill(), seed: seed)
    } catch {
      await instance.database.close()
      if let error = error as? DemoError { throw ConfigurationError(.verbatim(error.description)) }
      throw error
    }
  }

  func say(at url: String) {
    Terminal.say(
      Message(
        """
        Demo {seed}: {projects} projects, {tenants} tenants, {users} users, {days} days of \
        history.
        """,
        [
          "seed": .text("\(seed)"), "projects": .text("\(summary.projects)"),
          "tenants": .text("\(summary.tenants)"), "users": .text("\(summary.users)"),
          "days": .text("\(Demo.days)"),
        ]))
    sayPeople(
      Message("Sign in at {url}/sign-in with one of these accounts:", ["url": .text("\(url)")]))
  }

  /// Prints the accounts that can sign in once the folder is served.
  func say(beforeServing path: String) {
    Terminal.say(
      Message(
        "Demo {seed}: {users} users in {path}.",
        ["seed": .text("\(seed)"), "users": .text("\(summary.users)"), "path": .text(path)]))
    sayPeople(
      Message(
        "Run countersign serve --data {path}, then sign in with one of these accounts:",
        ["path": .text(path)]))
  }

  private func sayPeople(_ heading: Message) {
    Terminal.say(heading)
    for person in summary.administrators { say(person) }
    if let user = summary.user {
      Terminal.say(Message("A user who can sign in to applications:"))
      say(user)
    }
  }

  private func say(_ person: DemoPerson) {
    var credentials = [
      Message("password {password}", ["password": .text(person.password.revealedText)])
    ]
    if let authenticator = person.authenticator {
      let step = authenticator.step(at: WallClock.system.now().seconds)
      let secret = Base32.encode(authenticator.secret.revealedBytes)
      credentials.append(Message("TOTP secret {secret}", ["secret": .text(secret)]))
      if let code = try? authenticator.code(step: step) {
        credentials.append(Message("current code {code}", ["code": .text(code)]))
      }
    }
    let columns = ["", person.email] + credentials.map(OperatorText.string)
    Terminal.say(
      .verbatim((columns + ["(\(person.name), \(person.role))"]).joined(separator: "  ")))
  }
}
