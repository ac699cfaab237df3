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
      table.inPool(.get, part.path, .seePool, page.show)
      table.inPool(part.path, performing: [.changeSettings, .weakenSettings], page.change)
    }

    let signInSwitch = SignInSwitchPage(identity: identity, actions: parts.actions)
    table.inPool(.get, ConsolePaths.signInSwitch, .changePool, signInSwitch.ask)
    table.inPool(
      ConsolePaths.signInDisabling, performing: [.disableSignIn], signInSwitch.disable)
    table.inPool(ConsolePaths.signInEnabling, performing: [.enableSignIn], signInSwitch.enable)
  }
}

extension ConsolePaths {
  static let settings = PoolPath0("settings")
  static let signInMethods = PoolPath0("settings", "sign-in-methods")
  static let signInSwitch = PoolPath0("settings", "sign-in")
  static let signInDisabling = PoolPath0("settings", "sign-in", "disabling")
  static let signInEnabling = PoolPath0("settings", "sign-in", "enabling")
}
