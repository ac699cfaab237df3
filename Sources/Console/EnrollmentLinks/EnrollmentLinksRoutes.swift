import HTTP
import Identity

enum EnrollmentLinksRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    table.inPool(
      ConsolePaths.enrollmentLink, performing: SendEnrollmentLink(identity: identity), parts.actions
    )

    let enrollment = LinkedEnrollmentPage(
      links: identity.enrollmentLinks, authorizer: parts.authorizer, frames: frames,
      view: try parts.template("enrollment-links/enroll", for: LinkedEnrollmentView.self))
    table.open(.get, ConsolePaths.linkedEnrollment, enrollment.show)
    table.open(.post, ConsolePaths.linkedEnrollment, enrollment.finish)
  }
}
