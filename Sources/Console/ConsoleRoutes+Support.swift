import HTTP
import Identity
import Templating

extension ConsoleRoutes {
  /// Adds the pages of support actions on a user's account.
  static func addSupport(
    to table: inout RouteTable, _ identity: Identity, _ pages: SupportPages,
    _ templates: TemplateLibrary
  ) throws {
    let removal = RemovalPage(
      factorRemovals: identity.factorRemovals, approvals: identity.approvals, pages: pages)
    table.inScope(.get, ConsolePaths.removal, .removeFactors, removal.ask)
    table.inScope(ConsolePaths.removal, performing: [.removeFactor], removal.remove)
    table.inScope(.get, ConsolePaths.removalOfAll, .removeFactors, removal.askForAll)
    table.inScope(ConsolePaths.removalOfAll, performing: [.removeAllFactors], removal.removeAll)

    let undo = UndoPage(factorRemovals: identity.factorRemovals, pages: pages)
    table.inScope(.get, ConsolePaths.undo, .removeFactors, undo.ask)
    table.inScope(ConsolePaths.undo, performing: [.restoreFactors], undo.restore)
    let purge = PurgePage(factorRemovals: identity.factorRemovals, pages: pages)
    table.inScope(.get, ConsolePaths.purge, .removeFactors, purge.ask)
    table.inScope(ConsolePaths.purge, performing: [.purgeFactors], purge.purge)

    let suspension = SuspensionPage(support: identity.support, pages: pages)
    table.inScope(.get, ConsolePaths.suspension, .removeFactors, suspension.ask)
    table.inScope(ConsolePaths.suspension, performing: [.suspendFactor], suspension.suspend)
    table.inScope(.get, ConsolePaths.endOfSuspension, .removeFactors, suspension.askForEnd)
    table.inScope(ConsolePaths.endOfSuspension, performing: [.resumeFactor], suspension.end)

    let name = FactorNamePage(support: identity.support, pages: pages)
    table.inScope(.get, ConsolePaths.factorName, .removeFactors, name.ask)
    table.inScope(ConsolePaths.factorName, performing: [.renameFactor], name.rename)

    let note = NotePage(identity: identity, pages: pages)
    table.inScope(.get, ConsolePaths.newNote, .removeFactors, note.ask)
    table.inScope(ConsolePaths.newNote, performing: [.writeNote], note.write)
    table.inScope(.get, ConsolePaths.noteRemoval, .removeFactors, note.askForRemoval)
    table.inScope(ConsolePaths.noteRemoval, performing: [.deleteNote], note.remove)

    func add(_ path: ScopePath1, _ act: AccountAct) {
      let page = AccountActPage(act: act, identity: identity, pages: pages)
      table.inScope(.get, path, act.permission, page.ask)
      table.inScope(path, performing: [act.action], page.perform)
    }
    add(ConsolePaths.unlock, .unlock)
    add(ConsolePaths.endOfSessions, .endSessions)
    add(ConsolePaths.protection, .protection)
    add(ConsolePaths.allowedChanges, .allowChanges)
    add(ConsolePaths.disabling, .disabling)
    add(ConsolePaths.enabling, .enabling)
    add(ConsolePaths.verification, .verification)
    add(ConsolePaths.deletion, .deletion)

    let rules = SupportRulesPage(
      identity: identity, ending: pages.ending,
      view: try templates.template("support/settings", for: SupportRulesView.self))
    table.inScope(.get, ConsolePaths.supportRules, .seeScope, rules.show)
    table.inScope(ConsolePaths.supportRules, performing: [.changeSupportRules], rules.change)

    let release = ReleasePage(
      support: identity.support, ending: pages.ending,
      view: try templates.template("support/release", for: ReleaseView.self))
    table.inScope(.get, ConsolePaths.release, .protectUsers, release.ask)
    table.inScope(ConsolePaths.release, performing: [.unblockAgent], release.release)
  }
}
