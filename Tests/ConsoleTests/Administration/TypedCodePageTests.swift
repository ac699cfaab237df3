import Crypto
import Database
import HTTP
import HostileText
import OTP
import Testing

@testable import Console
@testable import Identity

/// Every form with a field for a code that a person types, with the code in every notation.
@Suite struct TypedCodePageTests {
  /// A form that reads a code; its body sends one that's right, and returns whether it's accepted.
  struct Reader: Sendable {
    let file: String
    let field: String
    var carriesMail = false
    let send: @Sendable (World, @Sendable (String) -> String) async throws -> Bool
  }

  /// A form of an agent's or owner's action, which comes 20 minutes after the last code.
  private static func submit(
    _ world: World, as email: String, _ form: Form, to address: String, code: String,
    _ written: (String) -> String
  ) async throws -> Answer {
    let (browser, app) = try await Browser.withApp(world, as: email)
    world.clock.advance(seconds: 1_200)
    var form = form
    form.add(code, written(try world.code(of: app)))
    return try await browser.submit(address, form)
  }

  private static func device(of uid: String, _ world: World) async throws -> OneTimePassword {
    let (account, pool) = (try await world.user(uid), try await world.euPool)
    let factor = try #require(account.factors.first { $0.kind == .totp }).id
    let stored = try await world.database.read { [totp = world.identity.totp] connection in
      try totp.stored(factor, of: account, in: pool, connection)
    }
    return try #require(stored.flatMap { TOTPFactor.password($0.secret) })
  }

  static let readers: [Reader] = [
    Reader(file: "Account/OwnFactorPage.swift", field: "code") { world, written in
      let iris = try await Browser.signedIn(world, as: World.iris)
      let page = try await iris.get("/account/totp")
      let app = try SecondStepPageTests.app(on: page)
      return try await iris.post(
        "/account/totp",
        [
          "csrf": try page.csrf, "ticket": page.value(of: "ticket") ?? "",
          "code": written(try world.code(of: app)),
        ]
      ).says("Your second factor is on.")
    },
    Reader(file: "Account/OwnFactorPage.swift", field: "current-code") { world, written in
      let (iris, app) = try await Browser.withApp(world, as: World.iris)
      world.clock.advance(seconds: 30)
      let page = try await iris.get("/account/totp")
      let new = try SecondStepPageTests.app(on: page)
      return try await iris.post(
        "/account/totp",
        [
          "csrf": try page.csrf, "ticket": page.value(of: "ticket") ?? "",
          "code": written(try world.code(of: new)),
          "current-code": written(try world.code(of: app)),
        ]
      ).says("Your authenticator app is set up.")
    },
    Reader(file: "Account/CurrentCodePages.swift", field: "current-code") { world, written in
      let (iris, app) = try await Browser.withApp(world, as: World.iris)
      world.clock.advance(seconds: 30)
      let codes = try await iris.submit(
        "/account/recovery-codes", ["current-code": written(try world.code(of: app))])
      world.clock.advance(seconds: 30)
      let removed = try await iris.submit(
        "/account/totp/removal", ["current-code": written(try world.code(of: app))])
      return codes.says("These are your new codes.") && removed.location == "/account"
    },
    Reader(file: "Factors/Resynchronize.swift", field: "deviceCodes") { world, written in
      try await world.setSupportRules { $0.resynchronization = true }
      let app = try await device(of: World.chiara, world)
      let step = app.step(at: world.clock.now.seconds) + 3
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let factor = try await world.factor(of: World.chiara).text
      let done = try await nadia.submit(
        "\(user)/factors/\(factor)/resynchronization",
        [
          "first-code": written(try app.code(step: step - 1)),
          "second-code": written(try app.code(step: step)), "reason": "locked",
        ])
      return done.location == user
    },
    Reader(file: "SignIn/ReauthenticationPage.swift", field: "code") { world, written in
      try await submit(
        world, as: World.ada, [:], to: "/account/reauthentication", code: "code", written
      ).status == .seeOther
    },
    Reader(file: "SignIn/SetupPage.swift", field: "code") { _, written in
      try await World.empty { world in
        let created = try await Browser(world).submit(
          "/setup", SignInTests.owner(written(world.setupCode)))
        #expect(created.location == "/")
      }
      return true
    },
    Reader(file: "SignIn/SignInCodePage.swift", field: "field") { world, written in
      let (app, codes) = try await world.authenticator(of: World.ada)
      let (first, second) = (Browser(world), Browser(world))
      _ = try await first.givePassword()
      let byCode = try await first.submit(
        "/sign-in/code", ["code": written(try world.code(of: app))])
      _ = try await second.givePassword()
      let byRecovery = try await second.submit("/sign-in/code", ["recovery": written(codes[0])])
      return byCode.status == .seeOther && byRecovery.status == .seeOther
    },
    Reader(file: "Forms/ActionInput.swift", field: "code") { world, written in
      let user = try await world.eu + "/users/\(World.chiara)"
      return try await submit(
        world, as: World.nadia, ["reason": "lost"], to: user + "/sessions/end", code: "code",
        written
      ).location == user
    },
    Reader(file: "Forms/ActionInput.swift", field: "caller-code", carriesMail: true) {
      world, written in
      try await world.setSupportRules { $0.callerVerification = .required }
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let form = user + "/sessions/end"
      _ = try await nadia.submit(user, ["return": form], to: user + "/caller-code")
      let code = try await CallerCodePageTests.code(world).filter { $0 != " " }
      return try await nadia.submit(form, ["reason": "lost", "caller-code": written(code)])
        .location == user
    },
    Reader(file: "UserLinks/LinkedEnrollmentPage.swift", field: "code") { world, written in
      let links = EnrollmentLinkPageTests()
      let browser = Browser(world)
      let page = try await browser.get(try await links.send(world))
      let code = written(try links.code(page, world))
      return try await browser.post(
        EnrollmentLinkPageTests.page, try links.form(page, code: code)
      ).status == .seeOther
    },
  ]

  @Test(arguments: TypedCodePageTests.readers.indices)
  func `a code is accepted however it's written`(index: Int) async throws {
    let reader = Self.readers[index]
    for notation in CodeNotation.allCases {
      try await World.withSampleData(carriesMail: reader.carriesMail) { world in
        let isAccepted = try await reader.send(world) { notation.written($0) }
        #expect(isAccepted, "\(reader.file), \(reader.field), \(notation)")
      }
    }
  }
}
