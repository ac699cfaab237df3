import Crypto
import Identity
import OTP
import Testing

extension ConsoleSignIn {
  /// The session of a sign-in that requires no code.
  var session: NewConsoleSession {
    get throws {
      guard case .signedIn(let new) = self else { throw Unexpected("a code is required") }
      return new
    }
  }

  /// The pending credential of a sign-in that requires a code.
  var pending: String {
    get throws {
      guard case .secondFactorDue(let pending, _) = self else {
        throw Unexpected("no code is required")
      }
      return pending.revealedText
    }
  }
}

/// An administrator with an authenticator app.
struct OwnDevice: Sendable {
  let administrator: Administrator
  let secret: Secret
  let recoveryCodes: [String]

  func code(at time: Instant, steps: Int64 = 0) throws -> String {
    let app = try #require(OneTimePassword(secret: secret))
    return try app.code(step: app.step(at: time.seconds) + steps)
  }

  /// Returns a code that the app doesn't show at any step near a time.
  func wrongCode(at time: Instant) throws -> String {
    let near = try Set((-12...12).map { try code(at: time, steps: $0) })
    return try #require((0...30).map { String(100_000 + $0) }.first { !near.contains($0) })
  }
}

extension Instance {
  /// Creates an administrator whose address begins with their name.
  func administrator(
    _ name: String, _ role: Role, project: ID<Project>? = nil
  ) async throws -> Administrator {
    try await identity.administrators.create(
      email: "\(name)@example.com", displayName: name, password: Self.consolePassword,
      grant: Grant(role: role, project: project), by: Author(actor: .commandLine))
  }

  /// Enters an administrator's password on the console's sign-in page.
  func giveConsolePassword(
    _ administrator: Administrator, password: Secret = Instance.consolePassword,
    from address: String = "a", requestID: String = ""
  ) async throws -> ConsoleSignIn {
    try await identity.consoleSessions.signIn(
      email: administrator.email, password: password, address: address, userAgent: "Browser",
      requestID: requestID)
  }

  /// Enrolls an app for an administrator and advances the clock by 30 seconds, so that the current
  /// code is a new one.
  func enroll(_ administrator: Administrator) async throws -> OwnDevice {
    let enrollment = try identity.administratorFactors.begin(for: administrator)
    let app = try device(enrollment, of: administrator)
    let codes = try await identity.administratorFactors.finish(
      enrollment.ticket.revealedText, code: try TypedCode(app.code(at: now)), for: administrator.id,
      by: author(administrator))
    clock.advance(30)
    return OwnDevice(
      administrator: administrator, secret: app.secret,
      recoveryCodes: codes.value.map(\.revealedText))
  }

  /// Returns the app with an enrollment's secret.
  func device(
    _ enrollment: AdministratorEnrollment, of administrator: Administrator
  ) throws -> OwnDevice {
    let secret = Secret(try #require(Base32.decode(enrollment.key.revealedText)))
    return OwnDevice(administrator: administrator, secret: secret, recoveryCodes: [])
  }

  func author(_ administrator: Administrator) -> Author {
    administrator.author(address: "198.51.100.7", requestID: "request-4")
  }

  /// Signs an administrator in with their password and a code.
  func signIn(_ device: OwnDevice, code: String? = nil) async throws -> NewConsoleSession {
    let pending = try await giveConsolePassword(device.administrator).pending
    return try await finish(pending, code: try code ?? device.code(at: now))
  }

  func finish(_ pending: String, code: String) async throws -> NewConsoleSession {
    try await identity.consoleSessions.finish(
      pending, code: TypedCode(code), address: "a", userAgent: "Browser")
  }
}
