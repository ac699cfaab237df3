import Crypto
import DatabaseSQLite
import Demo
import Identity
import Localization
import OTP

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

  /// Prints the accounts that can sign in, one per line.
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
