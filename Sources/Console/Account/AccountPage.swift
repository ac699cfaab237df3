import HTTP
import Identity
import Localization
import Templating

/// `/account`: the signed-in administrator's own account.
struct AccountPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<AccountView>

  func show(_ signedIn: SignedIn) async throws -> Response {
    let administrator = signedIn.administrator
    let record = try await identity.administrators.record(administrator.id)
    let sessions = try await identity.consoleSessions.list(of: administrator.id)
    let codes = try await identity.ownAccount.recoveryCodesLeft(administrator.id)
    let passkeys = try await identity.passkeys.list(of: administrator.id)
    let provider = try await identity.consoleProviders.name()
    let history = try await identity.administrators.history(of: administrator.id, limit: 10)
    let frame = await frames.frame(Message("Your account"), for: signedIn)
    return .html(
      view.render(
        AccountView(
          frame: FrameView(frame), signedIn: signedIn, record: record, sessions: sessions,
          codesLeft: codes, passkeys: passkeys, history: history,
          provider: provider, publicURL: publicURL)))
  }

  func endSession(_ signedIn: SignedIn) async throws -> Response {
    let name = signedIn.form.trimmed("session")
    // Signing out ends the current session and also clears the browser.
    guard name != signedIn.session.id else { return .redirect(to: ConsolePaths.signOut()) }
    let isEnded = try await identity.consoleSessions.end(
      name, of: signedIn.administrator, by: signedIn.author)
    return leave(ended: isEnded ? 1 : 0, signedIn)
  }

  func endOtherSessions(_ signedIn: SignedIn) async throws -> Response {
    let ended = try await identity.consoleSessions.endOthers(
      than: signedIn.session.id, of: signedIn.administrator, by: signedIn.author)
    return leave(ended: ended, signedIn)
  }

  private func leave(ended: Int, _ signedIn: SignedIn) -> Response {
    let text = SessionText.ended(ended, none: Message("No other sessions were open."))
    return frames.leave(text, for: signedIn, to: ConsolePaths.account())
  }
}

struct AccountView: ViewModel {
  let frame: FrameView
  let signedIn: SignedIn
  let record: AdministratorRecord
  let sessions: [OpenConsoleSession]
  let codesLeft: Int
  let passkeys: [Passkey]
  let history: [AuditRow]
  let provider: String?
  let publicURL: PublicURL

  private var factorFacts: [Fact] {
    let app = Message("Authenticator app")
    guard let since = record.enrolledAt else {
      let none = Message("none")
      let isMissing = signedIn.session.mustHaveSecondFactor && passkeys.isEmpty
      let codes = passkeys.isEmpty ? [] : [Fact(Message("Recovery codes"), recoveryCodes)]
      return [Fact(app, isMissing ? Chip.look(none) : Chip.off(none))] + codes
    }
    let atSetup = Markup(escaping: Message("at setup"))
    return [
      Fact(app, Chip.on(Message("on"))),
      Fact(Message("Set up"), frame.times.past(since)),
      Fact(Message("Last used"), record.factorUsedAt.map(frame.times.past) ?? atSetup),
      Fact(Message("Recovery codes"), recoveryCodes),
    ]
  }

  private var recoveryCodes: Markup {
    guard codesLeft >= 3 else {
      return Chip.look(
        Message(one: "{count} left", other: "{count} left", ["count": .number(codesLeft)]))
    }
    return Markup(
      escaping: Message(
        one: "{count} of {total} left", other: "{count} of {total} left",
        ["count": .number(codesLeft), "total": .number(AdministratorFactors.recoveryCodes)]))
  }

  private var factorHint: Message? {
    if record.hasSecondFactor { return nil }
    guard record.hasPassword || signedIn.session.mustHaveSecondFactor else { return nil }
    return signedIn.session.mustHaveSecondFactor
      ? Message("Your role requires a second factor starting with your next sign-in.")
      : Message("With a second factor, your password alone isn’t enough to sign in.")
  }

  private var facts: [Fact] {
    let preferences = signedIn.session.preferences
    let grants = signedIn.administrator.grants
    var facts = [
      Fact(Message("Name"), HTML.isolated(signedIn.administrator.displayName)),
      Fact(Message("Email"), HTML.isolated(signedIn.administrator.email)),
    ]
    let roles = Message("Roles")
    if grants.isEmpty { facts.append(Fact(roles, Message("none"))) }
    for (index, grant) in grants.enumerated() {
      let value = grant.place(until: record.grantEnds[grant], frame.times)
      facts.append(Fact(index == 0 ? roles : Message.verbatim(""), value))
    }
    return facts + [
      Fact(Message("Time zone"), PreferencesText.zone(preferences.timeZone)),
      Fact(Message("Theme"), PreferencesText.theme(preferences.theme)),
    ]
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .list("factorFacts") { $0.factorFacts },
    .text("factorHint") { $0.factorHint },
    .flag("hasFactor") { $0.record.factors.contains(.totp) },
    .flag("mayRemove") { view in
      view.record.factors.contains(.totp)
        && (!view.passkeys.isEmpty || !view.signedIn.session.mustHaveSecondFactor)
    },
    .flag("hasCodes") { $0.record.hasSecondFactor },
    .list("passkeys") { view in
      view.passkeys.map { PasskeyRow(passkey: $0, times: view.frame.times) }
    },
    .text("newPasskey") { $0.publicURL.relyingParty.map { _ in ConsolePaths.newPasskey() } },
    .text("passkeyObstacle") { $0.publicURL.passkeyObstacle },
    .text("factor") { _ in ConsolePaths.ownFactor() },
    .text("factorRemoval") { _ in ConsolePaths.ownFactorRemoval() },
    .text("recoveryCodes") { _ in ConsolePaths.recoveryCodes() },
    .flag("hasPassword") { $0.record.hasPassword },
    .text("password") { _ in ConsolePaths.ownPassword() },
    .text("preferences") { _ in ConsolePaths.preferences() },
    .text("endOthersAction") { _ in ConsolePaths.ownOtherSessions() },
    .text("endAction") { _ in ConsolePaths.ownSessions() },
    .text("signOut") { _ in ConsolePaths.signOut() },
    .text("limits") { $0.signedIn.session.limits.sentence },
    .markup("sessionEnd") { $0.frame.times.moment($0.signedIn.session.expiresAt) },
    .flag("hasOthers") { $0.sessions.count > 1 },
    .list("sessions") { view in
      view.sessions.map {
        SessionRow(
          session: $0, isCurrent: $0.id == view.signedIn.session.id, times: view.frame.times)
      }
    },
    .list("facts") { $0.facts },
    .text(\.provider),
    .flag("isLinked") { $0.signedIn.session.provider.name != nil },
    .text("providerPage") { _ in ConsolePaths.providerReauthentication() },
    .list("history") { $0.frame.history($0.history) },
  ]
}

struct PasskeyRow: ViewModel {
  let passkey: Passkey
  let times: Times

  static let keys: Keys<Self> = [
    .text("href") { ConsolePaths.ownPasskey($0.passkey.id.text) },
    .text("name") { $0.passkey.name },
    .markup("created") { $0.times.past($0.passkey.createdAt) },
    .markup("lastUsed") {
      $0.passkey.lastUsedAt.map($0.times.past) ?? Markup(escaping: Message("Never"))
    },
  ]
}

extension SessionLimits {
  var sentence: Message {
    Message(
      "A session ends after {idle} of inactivity, or {lifetime} after sign-in at the latest.",
      [
        "idle": .message(Formatted.duration(seconds: Int(idle))),
        "lifetime": .message(Formatted.duration(seconds: Int(lifetime))),
      ])
  }
}

enum AccountRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let account = try parts.page("account/account", AccountPage.init)
    table.signedIn(.get, ConsolePaths.account, account.show)
    table.signedIn(.post, ConsolePaths.ownSessions, account.endSession)
    table.signedIn(.post, ConsolePaths.ownOtherSessions, account.endOtherSessions)

    let `extension` = SessionExtensionPage(clock: identity.clock)
    table.settingUp(.post, ConsolePaths.sessionExtension, `extension`.extend)

    let preferences = try parts.page("account/preferences", PreferencesPage.init)
    table.signedIn(.get, ConsolePaths.preferences, preferences.show)
    table.signedIn(.post, ConsolePaths.preferences, preferences.change)

    let password = try parts.page("account/password", OwnPasswordPage.init)
    table.signedIn(.get, ConsolePaths.ownPassword, password.show)
    table.signedIn(.post, ConsolePaths.ownPassword, password.change)

    let codes = try parts.template("account/codes", for: RecoveryCodesView.self)
    let currentCode = try parts.template("account/current-code", for: CurrentCodeView.self)
    let withdrawal = OwnFactorRemovalPage(parts: parts, view: currentCode)
    table.signedIn(.get, ConsolePaths.ownFactorRemoval, withdrawal.ask)
    table.signedIn(.post, ConsolePaths.ownFactorRemoval, withdrawal.remove)
    let recovery = RecoveryCodesPage(parts: parts, view: currentCode, codes: codes)
    table.signedIn(.get, ConsolePaths.recoveryCodes, recovery.ask)
    table.signedIn(.post, ConsolePaths.recoveryCodes, recovery.make)
  }
}

extension ConsolePaths {
  static let account = Path("account")
  static let ownPassword = Path("account", "password")
  static let ownFactor = Path("account", "totp")
  static let ownFactorRemoval = Path("account", "totp", "removal")
  static let recoveryCodes = Path("account", "recovery-codes")
  static let ownSessions = Path("account", "sessions")
  static let ownOtherSessions = Path("account", "sessions", "others")
  static let sessionExtension = Path("account", "session-extension")
  static let preferences = Path("account", "preferences")
}
