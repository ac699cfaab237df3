import HTTP
import Identity

enum SupportRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, forms) = (parts.identity, parts.actions)
    for action in parts.userActions.all { table.add(action.init(identity: identity), forms) }
    table.add(AllowChanges(identity: identity), forms)
    table.add(UnblockAgent(support: identity.support), forms)
    table.inside(
      ConsolePaths.callerCode, .performing(.sendCallerCode), SendCallerCode(forms: forms).send)

    let rules = try parts.page("support/settings", SupportRulesPage.init)
    table.inside(ConsolePaths.supportRules, .get(.seePool), rules.show)
    table.inside(ConsolePaths.supportRules, .performing(.changeSupportRules), rules.change)
  }
}

extension ConsolePaths {
  static let supportRules = PoolPath0("settings", "support")
  static let callerCode = PoolPath1("users", nil, "caller-code")
}
