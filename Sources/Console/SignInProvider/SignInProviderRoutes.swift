import HTTP
import Identity

enum SignInProviderRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let settings = SignInProviderPage(
      identity: parts.identity, publicURL: parts.authorizer.publicURL, actions: parts.actions,
      view: try parts.template("sign-in-provider/settings", for: SignInProviderView.self))
    table.signedIn(.get, ConsolePaths.signInProvider, .manageAdministrators, settings.show)
    table.signedIn(
      ConsolePaths.signInProvider, performing: [.changeSignInProvider], settings.save)

    let removal = RemoveSignInProvider(providers: parts.identity.consoleProviders)
    table.signedIn(ConsolePaths.signInProviderRemoval, performing: removal, parts.actions)
  }
}

/// Sign-in and re-authentication with the provider, which lead to the pages of all others.
enum ProviderEntranceRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let page = ProviderSignInPage(
      identity: parts.identity, authorizer: parts.authorizer, frames: parts.frames,
      failures: table.failures,
      refused: try parts.template("sign-in-provider/refused", for: ProviderRefusedView.self),
      confirmation: try parts.template(
        "sign-in-provider/confirmation", for: ProviderConfirmationView.self),
      continuing: try parts.template(
        "sign-in-provider/continuing", for: ProviderContinuingView.self),
      destinations: table.all.filter { $0.access != .open }.map(\.route))
    table.open(.get, ConsolePaths.providerSignIn, page.begin)
    table.open(.get, ConsolePaths.providerCallback, page.receive)
    table.settingUp(.get, ConsolePaths.providerReauthentication, at: .anyStage, page.ask)
    table.settingUp(.post, ConsolePaths.providerReauthentication, at: .anyStage, page.confirm)
  }
}

extension ConsolePaths {
  static let providerSignIn = Path("sign-in", "provider")
  static let providerCallback = Path("sign-in", "provider", "callback")
  static let providerReauthentication = Path("account", "reauthentication", "provider")
  static let signInProvider = Path("administrators", "sign-in-provider")
  static let signInProviderRemoval = Path("administrators", "sign-in-provider", "removal")
}
