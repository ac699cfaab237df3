import Crypto
import DatabaseSQLite
import Demo
import Identity
import OTP

/// Creates a demo before the server listens, and prints how to sign in to it.
struct DemoGreeting: Sendable {
  let summary: DemoSummary
  let seed: UInt64

  /// Fills the instance when `--demo` is set; returns nil otherwise.
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
      if let error = error as? DemoError { throw ConfigurationError(error.description) }
      throw error
    }
  }

  /// Prints the accounts that can sign in, one per line.
  func say(at url: String) {
    Terminal.say(
      "Demo \(seed): \(summary.projects) projects, \(summary.tenants) tenants, "
        + "\(summary.users) users, \(Demo.days) days of history.")
    sayPeople("Sign in at \(url)/sign-in with one of these accounts:")
  }

  /// Prints the accounts that can sign in once the folder is served.
  func say(beforeServing path: String) {
    Terminal.say("Demo \(seed): \(summary.users) users in \(path).")
    sayPeople(
      "Run countersign serve --data \(path), then sign in with one of these accounts:")
  }

  private func sayPeople(_ heading: String) {
    Terminal.say(heading)
    for person in summary.administrators { say(person) }
    if let user = summary.user {
      Terminal.say("A user who can sign in to applications:")
      say(user)
    }
  }

  private func say(_ person: DemoPerson) {
    var line = "  \(person.email)  password \(person.password.revealedText)"
    if let authenticator = person.authenticator {
      let step = authenticator.step(at: WallClock.system.now().seconds)
      line += "  TOTP secret \(Base32.encode(authenticator.secret.revealedBytes))"
      if let code = try? authenticator.code(step: step) { line += "  current code \(code)" }
    }
    Terminal.say("\(line)  (\(person.name), \(person.role))")
  }
}
