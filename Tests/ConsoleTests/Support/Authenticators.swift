import Crypto
import HTTP
import Identity
import OTP
import Testing

@testable import Console

extension World {
  /// Sets up an authenticator app for an administrator, and advances the clock by 30 seconds, so
  /// that the current code is new.
  func authenticator(
    of email: String
  ) async throws -> (app: OneTimePassword, recoveryCodes: [String]) {
    let administrator = try await identity.administrators.record(email: email).administrator
    let enrollment = try identity.administratorFactors.begin(for: administrator)
    let key = enrollment.key.revealedText
    guard let secret = Base32.decode(key), let app = OneTimePassword(secret: Secret(secret)) else {
      throw Missing("secret of \(email)")
    }
    let codes = try await identity.administratorFactors.finish(
      enrollment.ticket.revealedText, code: TypedCode(code(of: app)), for: administrator.id,
      by: administrator.author(address: "192.0.2.1", requestID: "0000000OWNTOTP"))
    clock.advance(seconds: 30)
    return (app, codes.value.map(\.revealedText))
  }

  /// The app's current code.
  func code(of app: OneTimePassword) throws -> String {
    try app.code(step: app.step(at: clock.now.seconds))
  }

  /// Changes the support rules of eu-shop.
  func setSupportRules(_ change: (inout SupportRules) -> Void) async throws {
    let pool = try await euPool
    var settings = try await identity.support.settings(pool)
    change(&settings)
    try await identity.support.change(pool, to: settings, by: .program(Author(actor: .commandLine)))
  }

  func id(of email: String) async throws -> String {
    try await identity.administrators.record(email: email).administrator.id.text
  }

  /// Invites an administrator, and returns the link.
  func invitation(
    _ email: String, _ grant: Grant, name: String = "Newman"
  ) async throws -> String {
    let ada = try await identity.administrators.record(email: World.ada).administrator
    let created = try await identity.invitations.invite(
      email: email, displayName: name, grant: grant,
      by: .program(ada.author(address: "192.0.2.1", requestID: "000000INVITE"))
    ).value
    return "/invitation?token=\(created.token.revealedText)"
  }
}

extension Browser {
  /// A browser of an administrator who has just signed in with a code from their authenticator app.
  static func withApp(
    _ world: World, as email: String
  ) async throws -> (browser: Browser, app: OneTimePassword) {
    let app = try await world.authenticator(of: email).app
    let browser = Browser(world)
    _ = try await browser.givePassword(email)
    let answer = try await browser.submit("/sign-in/code", ["code": try world.code(of: app)])
    guard answer.status == .seeOther else { throw Missing("sign-in of \(email)") }
    return (browser, app)
  }

  /// Sends email address and password to the sign-in page.
  func givePassword(
    _ email: String = World.ada, password: String = World.password, next: String? = nil
  ) async throws -> Answer {
    var form: Form = ["email": email, "password": password]
    if let next { form.add("next", next) }
    return try await submit("/sign-in", form)
  }

  /// Accepts an invitation.
  func accept(_ link: String, name: String = "Newman") async throws -> Answer {
    let page = try await get(link)
    return try await post(
      "/invitation",
      [
        "csrf": try page.csrf, "token": page.value(of: "token") ?? "", "name": name,
        "password": World.password,
      ])
  }
}
