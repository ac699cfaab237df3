import HTTP
import Identity

/// The provider with which administrators sign in: its settings, and each administrator's own link.
enum SignInProviderRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let settings = SignInProviderPage(
      identity: identity, publicURL: parts.authorizer.publicURL, actions: parts.actions,
      view: try parts.template("sign-in-provider/settings", for: SignInProviderView.self))
    table.signedIn(.get, ConsolePaths.signInProvider, .manageAdministrators, settings.show)
    table.signedIn(
      ConsolePaths.signInProvider, performing: [.changeSignInProvider], settings.save)
    table.signedIn(
      ConsolePaths.signInProviderPreview, preparing: [.changeSignInProvider], settings.preview)

    let removal = SignInProviderRemovalPage(identity: identity, actions: parts.actions)
    table.signedIn(
      .get, ConsolePaths.signInProviderRemoval, .manageAdministrators, removal.ask)
    table.signedIn(
      ConsolePaths.signInProviderRemoval, performing: [.removeSignInProvider], removal.remove)

    let password = PasswordSignInPage(
      identity: identity, actions: parts.actions,
      view: try parts.template("sign-in-provider/password", for: PasswordSignInView.self))
    table.signedIn(.get, ConsolePaths.passwordSignIn, .manageAdministrators, password.show)
    table.signedIn(
      ConsolePaths.passwordSignIn, performing: [.changePasswordSignIn], password.change)

    let own = OwnProviderPage(
      identity: identity, frames: frames, leaving: try leaving(parts),
      view: try parts.template("sign-in-provider/own", for: OwnProviderView.self),
      removal: try parts.template("sign-in-provider/own-removal", for: OwnProviderView.self))
    table.signedIn(.get, ConsolePaths.ownProvider, nil, own.show)
    table.signedIn(.post, ConsolePaths.ownProvider, nil, own.link)
    table.signedIn(.get, ConsolePaths.ownProviderRemoval, nil, own.askForRemoval)
    table.signedIn(.post, ConsolePaths.ownProviderRemoval, nil, own.remove)

    let logout = ProviderLogoutEndpoint(identity: identity)
    table.external(.post, ConsolePaths.providerLogout, logout.receive)
  }

  static func leaving(_ parts: ConsoleParts) throws -> ProviderLeaving {
    ProviderLeaving(
      identity: parts.identity, cookies: parts.authorizer.cookies,
      publicURL: parts.authorizer.publicURL, frames: parts.frames,
      view: try parts.template("sign-in-provider/leaving", for: ProviderLeavingView.self))
  }
}

/// Sign-in and re-authentication with the provider, which lead to the pages of all others.
enum ProviderEntranceRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let destinations = table.all.filter { $0.access != .open }.map(\.route)
    let leaving = try SignInProviderRoutes.leaving(parts)
    let signIn = ProviderSignInPage(
      identity: parts.identity, authorizer: parts.authorizer, frames: parts.frames,
      failures: table.failures,
      refused: try parts.template("sign-in-provider/refused", for: ProviderRefusedView.self),
      leaving: leaving, destinations: destinations)
    table.open(.get, ConsolePaths.providerSignIn, signIn.begin)
    table.open(.get, ConsolePaths.providerCallback, signIn.receive)

    let page = ProviderReauthenticationPage(
      identity: parts.identity, frames: parts.frames, leaving: leaving,
      view: try parts.template(
        "sign-in-provider/reauthentication", for: ProviderReauthenticationView.self),
      destinations: destinations)
    table.settingUp(.get, ConsolePaths.providerReauthentication, at: .anyStage, page.show)
    table.settingUp(.post, ConsolePaths.providerReauthentication, at: .anyStage, page.begin)
  }
}

extension ConsolePaths {
  static let providerSignIn = Path("sign-in", "provider")
  static let providerCallback = Path("sign-in", "provider", "callback")
  static let providerLogout = Path("sign-in", "provider", "logout")
  static let providerReauthentication = Path("account", "reauthentication", "provider")
  static let ownProvider = Path("account", "provider")
  static let ownProviderRemoval = Path("account", "provider", "removal")
  static let signInProvider = Path("administrators", "sign-in-provider")
  static let signInProviderPreview = Path("administrators", "sign-in-provider", "preview")
  static let signInProviderRemoval = Path("administrators", "sign-in-provider", "removal")
  static let passwordSignIn = Path("administrators", "password-sign-in")
}
