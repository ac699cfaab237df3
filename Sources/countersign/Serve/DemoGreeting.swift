import Crypto
import DatabaseSQLite
import Identity
import OTP

/// Makes a demo before the server listens, and tells how to sign in to it afterwards.
struct DemoGreeting: Sendable {
  let summary: DemoSummary
  let seed: UInt64

  /// Fills the instance when `--demo` was said; nil when not.
  ///
  /// A folder that an earlier demo filled is not served to others either.
  static func made(
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
        publicURL: configuration.port == 0 ? "" : configuration.address(port: configuration.port),
        seed: seed)
      return DemoGreeting(summary: try await demo.fill(), seed: seed)
    } catch {
      await instance.database.close()
      if let error = error as? DemoError { throw ConfigurationError(error.description) }
      throw error
    }
  }

  /// Prints who can sign in, a line each.
  func say(at url: String) {
    Terminal.say(
      "Demo \(seed): \(summary.projects) projects, \(summary.tenants) tenants, "
        + "\(summary.users) users, \(Demo.days) days of history.")
    sayPeople("Sign in at \(url)/sign-in as one of these:")
  }

  /// Prints who can sign in once it is served.
  func say(beforeServing path: String) {
    Terminal.say("Demo \(seed): \(summary.users) users in \(path).")
    sayPeople("Serve it with countersign serve --data \(path), and sign in as one of these:")
  }

  private func sayPeople(_ heading: String) {
    Terminal.say(heading)
    for person in summary.administrators { say(person) }
    if let user = summary.user {
      Terminal.say("Applications can sign in a user:")
      say(user)
    }
  }

  private func say(_ person: DemoPerson) {
    var line = "  \(person.email)  password \(person.password.revealedText)"
    if let authenticator = person.authenticator {
      let step = authenticator.step(at: WallClock.system.now().seconds)
      line += "  TOTP secret \(Base32.encode(authenticator.secret.revealedBytes))"
      if let code = try? authenticator.code(step: step) { line += "  code now \(code)" }
    }
    Terminal.say("\(line)  (\(person.name), \(person.role))")
  }
}
