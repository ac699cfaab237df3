import HTTP
import Identity

enum AccountRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let account = AccountPage(
      identity: identity, publicURL: parts.authorizer.publicURL, frames: frames,
      view: try parts.template("account/account", for: AccountView.self))
    table.signedIn(.get, ConsolePaths.account, nil, account.show)
    table.signedIn(.post, ConsolePaths.ownSessions, nil, account.endSession)
    table.signedIn(.post, ConsolePaths.ownOtherSessions, nil, account.endOtherSessions)

    let `extension` = SessionExtensionPage(clock: identity.clock)
    table.settingUp(.post, ConsolePaths.sessionExtension, `extension`.extend)

    let preferences = PreferencesPage(
      ownAccount: identity.ownAccount, frames: frames,
      view: try parts.template("account/preferences", for: PreferencesView.self))
    table.signedIn(.get, ConsolePaths.preferences, nil, preferences.show)
    table.signedIn(.post, ConsolePaths.preferences, nil, preferences.change)

    let password = OwnPasswordPage(
      identity: identity, frames: frames,
      view: try parts.template("account/password", for: OwnPasswordView.self))
    table.signedIn(.get, ConsolePaths.ownPassword, nil, password.show)
    table.signedIn(.post, ConsolePaths.ownPassword, nil, password.change)

    let codes = try parts.template("account/codes", for: RecoveryCodesView.self)
    let factor = OwnFactorPage(
      authorizer: table.authorizer, factors: identity.administratorFactors,
      ending: parts.actions.ending,
      view: try parts.template("account/totp", for: OwnFactorView.self), codes: codes)
    table.settingUp(.get, ConsolePaths.ownFactor, factor.show)
    table.settingUp(.post, ConsolePaths.ownFactor, factor.finish)

    let currentCode = try parts.template("account/current-code", for: CurrentCodeView.self)
    let withdrawal = OwnFactorRemovalPage(
      factors: identity.administratorFactors, frames: frames, view: currentCode)
    table.signedIn(.get, ConsolePaths.ownFactorRemoval, nil, withdrawal.ask)
    table.signedIn(.post, ConsolePaths.ownFactorRemoval, nil, withdrawal.remove)
    let recovery = RecoveryCodesPage(
      factors: identity.administratorFactors, frames: frames, view: currentCode, codes: codes)
    table.signedIn(.get, ConsolePaths.recoveryCodes, nil, recovery.ask)
    table.signedIn(.post, ConsolePaths.recoveryCodes, nil, recovery.make)
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
