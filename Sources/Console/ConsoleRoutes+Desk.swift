import HTTP
import Identity
import Templating

extension ConsoleRoutes {
  /// The pages on which somebody acts on a user's account.
  static func addDesk(
    to table: inout RouteTable, _ identity: Identity, _ pages: DeskPages,
    _ templates: TemplateLibrary
  ) throws {
    let removal = RemovalPage(
      unenrolments: identity.unenrolments, approvals: identity.approvals, pages: pages)
    table.inScope(.get, ConsolePaths.removal, .removeFactors, removal.ask)
    table.inScope(ConsolePaths.removal, performing: [.removeFactor], removal.remove)
    table.inScope(.get, ConsolePaths.removalOfAll, .removeFactors, removal.askForAll)
    table.inScope(ConsolePaths.removalOfAll, performing: [.removeAllFactors], removal.removeAll)

    let undo = UndoPage(unenrolments: identity.unenrolments, pages: pages)
    table.inScope(.get, ConsolePaths.undo, .removeFactors, undo.ask)
    table.inScope(ConsolePaths.undo, performing: [.restoreFactors], undo.restore)
    let purge = PurgePage(unenrolments: identity.unenrolments, pages: pages)
    table.inScope(.get, ConsolePaths.purge, .removeFactors, purge.ask)
    table.inScope(ConsolePaths.purge, performing: [.purgeFactors], purge.purge)

    let suspension = SuspensionPage(desk: identity.desk, pages: pages)
    table.inScope(.get, ConsolePaths.suspension, .removeFactors, suspension.ask)
    table.inScope(ConsolePaths.suspension, performing: [.suspendFactor], suspension.suspend)
    table.inScope(.get, ConsolePaths.endOfSuspension, .removeFactors, suspension.askForEnd)
    table.inScope(ConsolePaths.endOfSuspension, performing: [.resumeFactor], suspension.end)

    let name = FactorNamePage(desk: identity.desk, pages: pages)
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

    let rules = DeskSettingsPage(
      identity: identity, ending: pages.ending,
      view: try templates.template("desk/settings", for: DeskSettingsView.self))
    table.inScope(.get, ConsolePaths.deskSettings, .seeScope, rules.show)
    table.inScope(ConsolePaths.deskSettings, performing: [.changeSupportRules], rules.change)

    let release = ReleasePage(
      desk: identity.desk, ending: pages.ending,
      view: try templates.template("desk/release", for: ReleaseView.self))
    table.inScope(.get, ConsolePaths.release, .protectUsers, release.ask)
    table.inScope(ConsolePaths.release, performing: [.unblockAgent], release.release)
  }
}
