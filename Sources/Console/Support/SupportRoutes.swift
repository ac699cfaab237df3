import HTTP
import Identity

enum SupportRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let pages = parts.support
    let identity = parts.identity
    table.inScope(ConsolePaths.unlock, performing: UnlockCodes(pages: pages))
    table.inScope(ConsolePaths.endOfSessions, performing: EndSessions(pages: pages))
    table.inScope(ConsolePaths.protection, performing: ProtectUser(pages: pages))
    table.inScope(ConsolePaths.allowedChanges, performing: AllowChanges(pages: pages))
    table.inScope(ConsolePaths.disabling, performing: DisableUser(pages: pages))
    table.inScope(ConsolePaths.enabling, performing: DisableUser(pages: pages, isEnding: true))
    table.inScope(ConsolePaths.verification, performing: VerifyEmail(pages: pages))
    table.inScope(ConsolePaths.deletion, performing: DeleteUser(pages: pages))

    let callerCode = SendCallerCode(pages: pages)
    table.inScope(ConsolePaths.callerCode, performing: [.sendCallerCode]) {
      context, uid in
      try await callerCode.send(
        SupportTarget(context, uid, at: ConsolePaths.callerCode(context.scope, uid)))
    }

    let rules = SupportRulesPage(
      identity: identity, ending: parts.support.ending,
      view: try parts.template("support/settings", for: SupportRulesView.self))
    table.inScope(.get, ConsolePaths.supportRules, .seeScope, rules.show)
    table.inScope(ConsolePaths.supportRules, performing: [.changeSupportRules], rules.change)

    let unblock = UnblockAgentPage(
      support: identity.support, ending: parts.support.ending,
      view: try parts.template("support/unblock-agent", for: UnblockAgentView.self))
    table.inScope(.get, ConsolePaths.unblockAgent, .protectUsers, unblock.ask)
    table.inScope(ConsolePaths.unblockAgent, performing: [.unblockAgent], unblock.unblock)
  }
}
