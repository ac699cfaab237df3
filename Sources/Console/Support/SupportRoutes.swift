import HTTP
import Identity

enum SupportRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, forms) = (parts.identity, parts.actions)
    table.inScope(ConsolePaths.unlock, performing: UnlockCodes(identity: identity), forms)
    table.inScope(ConsolePaths.endOfSessions, performing: EndSessions(identity: identity), forms)
    table.inScope(ConsolePaths.protection, performing: ProtectUser(identity: identity), forms)
    table.inScope(ConsolePaths.allowedChanges, performing: AllowChanges(identity: identity), forms)
    table.inScope(ConsolePaths.disabling, performing: DisableUser(identity: identity), forms)
    table.inScope(
      ConsolePaths.enabling, performing: DisableUser(identity: identity, isEnding: true), forms)
    table.inScope(ConsolePaths.verification, performing: VerifyEmail(identity: identity), forms)
    table.inScope(ConsolePaths.deletion, performing: DeleteUser(identity: identity), forms)

    let callerCode = SendCallerCode(forms: forms)
    table.inScope(ConsolePaths.callerCode, performing: [.sendCallerCode]) {
      context, uid in
      try await callerCode.send(
        FormTarget(
          place: context, objects: [uid], address: ConsolePaths.callerCode(context.scope, uid)))
    }

    let rules = SupportRulesPage(
      identity: identity, ending: parts.actions.ending,
      view: try parts.template("support/settings", for: SupportRulesView.self))
    table.inScope(.get, ConsolePaths.supportRules, .seeScope, rules.show)
    table.inScope(ConsolePaths.supportRules, performing: [.changeSupportRules], rules.change)

    let unblock = UnblockAgentPage(
      support: identity.support, ending: parts.actions.ending,
      view: try parts.template("support/unblock-agent", for: UnblockAgentView.self))
    table.inScope(.get, ConsolePaths.unblockAgent, .protectUsers, unblock.ask)
    table.inScope(ConsolePaths.unblockAgent, performing: [.unblockAgent], unblock.unblock)
  }
}
