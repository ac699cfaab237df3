import HTTP
import Identity

enum SettingsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    for (part, template) in [
      (SettingsPage.Part.general, "settings/settings"),
      (.signInMethods, "settings/sign-in-methods"),
    ] {
      let page = SettingsPage(
        part: part, identity: identity, actions: parts.actions,
        view: try parts.template(template, for: SettingsView.self))
      table.inScope(.get, part.path, .seeScope, page.show)
      table.inScope(part.path, performing: [.changeSettings, .weakenSettings], page.change)
    }

    let signInSwitch = SignInSwitchPage(identity: identity, actions: parts.actions)
    table.inScope(.get, ConsolePaths.signInSwitch, .changeScope, signInSwitch.ask)
    table.inScope(
      ConsolePaths.signInDisabling, performing: [.disableSignIn], signInSwitch.disable)
    table.inScope(ConsolePaths.signInEnabling, performing: [.enableSignIn], signInSwitch.enable)
  }
}

extension ConsolePaths {
  static let settings = ScopePath0("settings")
  static let signInMethods = ScopePath0("settings", "sign-in-methods")
  static let signInSwitch = ScopePath0("settings", "sign-in")
  static let signInDisabling = ScopePath0("settings", "sign-in", "disabling")
  static let signInEnabling = ScopePath0("settings", "sign-in", "enabling")
}
