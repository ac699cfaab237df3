import HTTP
import Identity

/// Settings of projects and tenants.
enum SettingsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let settings = SettingsPage(
      identity: identity, actions: parts.actions,
      view: try parts.template("settings/settings", for: SettingsView.self))
    table.inScope(.get, ConsolePaths.settings, .seeScope, settings.show)
    table.inScope(
      ConsolePaths.settings, performing: [.changeSettings, .weakenSettings], settings.change)

    let signInSwitch = SignInSwitchPage(
      identity: identity, actions: parts.actions,
      view: try parts.template("settings/sign-in", for: SignInSwitchView.self))
    table.inScope(.get, ConsolePaths.signInSwitch, .changeScope, signInSwitch.ask)
    table.inScope(
      ConsolePaths.signInDisabling, performing: [.disableSignIn], signInSwitch.disable)
    table.inScope(ConsolePaths.signInEnabling, performing: [.enableSignIn], signInSwitch.enable)
  }
}
