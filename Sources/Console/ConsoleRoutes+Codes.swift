import HTTP
import Identity
import Templating

extension ConsoleRoutes {
  /// The pages of what stands in for an authenticator app, and of links that set one up.
  static func addCodes(
    to table: inout RouteTable, _ identity: Identity, _ templates: TemplateLibrary,
    _ pages: DeskPages
  ) throws {
    let code = TemporaryCodePage(
      identity: identity, pages: pages,
      view: try templates.template("stand-ins/temporary-code", for: TemporaryCodeView.self))
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
    let link = EnrolmentLinkPage(identity: identity, pages: pages)
    table.inScope(.get, ConsolePaths.enrolmentLink, .removeFactors, link.ask)
    table.inScope(
      ConsolePaths.enrolmentLink, performing: [.sendEnrollmentLink], link.send)
  }

  /// The pages that links in mails to users lead to.
  static func addUserLinks(
    to table: inout RouteTable, _ identity: Identity, _ templates: TemplateLibrary,
    _ frames: Frames, _ gate: Gate
  ) throws {
    let enrolment = LinkedEnrolmentPage(
      links: identity.enrolmentLinks, gate: gate, frames: frames,
      view: try templates.template("enrolment-links/enrol", for: LinkedEnrolmentView.self))
    table.open(.get, ConsolePaths.linkedEnrolment, enrolment.show)
    table.open(.post, ConsolePaths.linkedEnrolment, enrolment.finish)
    let objection = ObjectionPage(
      objections: identity.objections, gate: gate, frames: frames,
      view: try templates.template("objections/objection", for: ObjectionView.self))
    table.open(.get, ConsolePaths.objection, objection.show)
    table.open(.post, ConsolePaths.objection, objection.object)
  }
}
