import HTTP
import Identity

enum PasskeysRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let new = NewPasskeyPage(
      identity: identity, publicURL: parts.authorizer.publicURL, frames: frames,
      view: try parts.template("passkeys/new", for: NewPasskeyView.self),
      codes: try parts.template("account/codes", for: RecoveryCodesView.self))
    table.settingUp(.get, ConsolePaths.newPasskey, new.show)
    table.settingUp(.post, ConsolePaths.newPasskey, new.create)

    let own = PasskeyPages(
      passkeys: identity.passkeys, frames: frames,
      view: try parts.template("passkeys/passkey", for: PasskeyView.self),
      removal: try parts.template("passkeys/removal", for: PasskeyRemovalView.self))
    table.signedIn(.get, ConsolePaths.ownPasskey, nil, own.show)
    table.signedIn(.post, ConsolePaths.ownPasskey, nil, own.rename)
    table.signedIn(.get, ConsolePaths.ownPasskeyRemoval, nil, own.askForRemoval)
    table.signedIn(.post, ConsolePaths.ownPasskeyRemoval, nil, own.remove)

    let requirement = PasskeyRequirementPage(
      passkeys: identity.passkeys, publicURL: parts.authorizer.publicURL, actions: parts.actions,
      view: try parts.template("passkeys/requirement", for: PasskeyRequirementView.self))
    table.signedIn(.get, ConsolePaths.passkeyRequirement, .manageAdministrators, requirement.show)
    table.signedIn(
      ConsolePaths.passkeyRequirement, performing: [.changePasskeyRequirement], requirement.change)
  }
}

/// Re-authentication, which leads to the pages of all others.
enum ReauthenticationRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let page = ReauthenticationPage(
      identity: parts.identity, authorizer: parts.authorizer,
      ending: SupportRedirect(frames: parts.frames, cookies: parts.authorizer.cookies),
      view: try parts.template("passkeys/reauthentication", for: ReauthenticationView.self),
      passkeyView: try parts.template("passkeys/use", for: PasskeyUseView.self),
      destinations: table.all.filter { $0.access != .open }.map(\.route))
    table.settingUp(.get, ConsolePaths.reauthentication, at: .anyStage, page.show)
    table.settingUp(.post, ConsolePaths.reauthentication, at: .anyStage, page.verifyCode)
    table.settingUp(.get, ConsolePaths.passkeyReauthentication, at: .anyStage, page.showPasskey)
    table.settingUp(.post, ConsolePaths.passkeyReauthentication, at: .anyStage, page.verifyPasskey)
    let form = FormReauthentication(
      drafts: parts.authorizer.drafts, destinations: page.destinations)
    table.signedIn(.post, ConsolePaths.passkeyForm, nil, form.withPasskey)
    table.signedIn(.post, ConsolePaths.providerForm, nil, form.withProvider)
  }
}

extension ConsolePaths {
  static let newPasskey = Path("account", "passkeys", "new")
  static let ownPasskey = Path("account", "passkeys", nil, parameters: String.self)
  static let ownPasskeyRemoval = Path(
    "account", "passkeys", nil, "removal", parameters: String.self)
  static let reauthentication = Path("account", "reauthentication")
  static let passkeyReauthentication = Path("account", "reauthentication", "passkey")
  static let passkeyForm = Path("account", "reauthentication", "passkey", "form")
  static let providerForm = Path("account", "reauthentication", "provider", "form")
  static let passkeyRequirement = Path("administrators", "passkeys")
}
