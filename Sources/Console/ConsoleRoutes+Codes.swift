import HTTP
import Identity
import Templating

extension ConsoleRoutes {
  /// The pages of what stands in for an authenticator app, and of links that set one up.
  static func addCodes(
    to table: inout RouteTable, _ identity: Identity, _ templates: TemplateLibrary,
    _ pages: SupportPages
  ) throws {
    let code = TemporaryCodePage(
      identity: identity, pages: pages,
      view: try templates.template("backup-codes/temporary-code", for: TemporaryCodeView.self))
    table.inScope(.get, ConsolePaths.temporaryCode, .removeFactors, code.ask)
    table.inScope(
      ConsolePaths.temporaryCode, performing: [.createTemporaryCode], code.make)
    table.inScope(.get, ConsolePaths.shownCode, .removeFactors, code.show)
    let codeEnd = CodesEndPage(kind: .temporary, identity: identity, pages: pages)
    table.inScope(.get, ConsolePaths.temporaryCodeRemoval, .removeFactors, codeEnd.ask)
    table.inScope(
      ConsolePaths.temporaryCodeRemoval, performing: [.revokeTemporaryCode], codeEnd.end)
    let recoveryEnd = CodesEndPage(kind: .recovery, identity: identity, pages: pages)
    table.inScope(.get, ConsolePaths.recoveryCodesRemoval, .removeFactors, recoveryEnd.ask)
    table.inScope(
      ConsolePaths.recoveryCodesRemoval, performing: [.revokeRecoveryCodes], recoveryEnd.end)
    let link = EnrollmentLinkPage(identity: identity, pages: pages)
    table.inScope(.get, ConsolePaths.enrollmentLink, .removeFactors, link.ask)
    table.inScope(
      ConsolePaths.enrollmentLink, performing: [.sendEnrollmentLink], link.send)
  }

  /// The pages that links in mails to users lead to.
  static func addUserLinks(
    to table: inout RouteTable, _ identity: Identity, _ templates: TemplateLibrary,
    _ frames: Frames, _ gate: Gate
  ) throws {
    let enrollment = LinkedEnrollmentPage(
      links: identity.enrollmentLinks, gate: gate, frames: frames,
      view: try templates.template("enrollment-links/enroll", for: LinkedEnrollmentView.self))
    table.open(.get, ConsolePaths.linkedEnrollment, enrollment.show)
    table.open(.post, ConsolePaths.linkedEnrollment, enrollment.finish)
    let reportedChange = ReportedChangePage(
      reportedChanges: identity.reportedChanges, gate: gate, frames: frames,
      view: try templates.template("reported-changes/reported-change", for: ReportedChangeView.self)
    )
    table.open(.get, ConsolePaths.reportedChange, reportedChange.show)
    table.open(.post, ConsolePaths.reportedChange, reportedChange.object)
  }
}
