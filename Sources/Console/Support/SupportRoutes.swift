import HTTP
import Identity

enum SupportRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, forms) = (parts.identity, parts.actions)
    table.inPool(ConsolePaths.unlock, performing: UnlockCodes(identity: identity), forms)
    table.inPool(ConsolePaths.endOfSessions, performing: EndSessions(identity: identity), forms)
    table.inPool(ConsolePaths.protection, performing: ProtectUser(identity: identity), forms)
    table.inPool(ConsolePaths.allowedChanges, performing: AllowChanges(identity: identity), forms)
    table.inPool(ConsolePaths.disabling, performing: DisableUser(identity: identity), forms)
    table.inPool(
      ConsolePaths.enabling, performing: DisableUser(identity: identity, isEnding: true), forms)
    table.inPool(ConsolePaths.verification, performing: VerifyEmail(identity: identity), forms)
    table.inPool(ConsolePaths.deletion, performing: DeleteUser(identity: identity), forms)

    let callerCode = SendCallerCode(forms: forms)
    table.inPool(ConsolePaths.callerCode, performing: [.sendCallerCode]) {
      context, uid in
      try await callerCode.send(
        FormTarget(
          place: context, objects: [uid], address: ConsolePaths.callerCode(context.pool, uid)))
    }

    let rules = SupportRulesPage(
      identity: identity, frames: parts.frames,
      view: try parts.template("support/settings", for: SupportRulesView.self))
    table.inPool(.get, ConsolePaths.supportRules, .seePool, rules.show)
    table.inPool(ConsolePaths.supportRules, performing: [.changeSupportRules], rules.change)

    let unblock = UnblockAgentPage(
      support: identity.support, frames: parts.frames,
      view: try parts.template("support/unblock-agent", for: UnblockAgentView.self))
    table.inPool(.get, ConsolePaths.unblockAgent, .protectUsers, unblock.ask)
    table.inPool(ConsolePaths.unblockAgent, performing: [.unblockAgent], unblock.unblock)
  }
}
