import HTTP
import Identity
import Localization
import MailText
import Templating

/// `/reports/dormant-administrators`: administrators who don't use the console, and open
/// invitations.
struct DormantAdministratorsPage: Sendable {
  let reports: Reports
  let frames: Frames
  let view: Template<ReportView>

  private static let report = Report.dormantAdministrators

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let days = Self.days(signedIn)
    let found = try await read(days)
    var frame = frames.frame(Self.report.name, for: signedIn)
    frame.crumbs = [Link(text: Message("reports.reports"), href: ConsolePaths.allReports())]
    let query: Form = ["days": String(days)]
    var content = ReportContent(
      summary: Self.report.explanation, query: query, table: table(found, signedIn))
    content.menus = [
      ReportMenu(
        label: Message("reports.without-use"),
        items: Reports.dormantDays.map { choice in
          ChartPeriod(
            text: Message("common.days", ["count": .number(choice)]),
            href: (["days": String(choice)] as Form).query(
              of: ConsolePaths.dormantAdministrators()),
            isCurrent: choice == days)
        })
    ]
    return .html(
      view.render(
        ReportView(
          frame: FrameView(frame), title: Self.report.name, content: content,
          file: query.query(of: ConsolePaths.dormantAdministratorsFile()),
          emptiness: Self.report.emptiness)))
  }

  func download(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    table(try await read(Self.days(signedIn)), signedIn).csv(frames.catalog)
      .response(named: Self.report.rawValue)
  }

  /// The number of days in the address; 90 without a valid one.
  private static func days(_ signedIn: SignedIn) -> Int {
    let typed = signedIn.query.text("days").flatMap { Int($0) }
    return typed.flatMap { Reports.dormantDays.contains($0) ? $0 : nil } ?? AccessGrant.dormantDays
  }

  private func read(_ days: Int) async throws(Refusal) -> [DormantAccess] {
    try await refusing { try await reports.dormant(days: days) }
  }

  private func table(_ found: [DormantAccess], _ signedIn: SignedIn) -> ReportTable {
    var table = ReportTable(
      caption: Self.report.explanation,
      columns: [
        Message("reports.administrator"), Message("reports.roles"), Message("common.created"),
        Message("users.last-sign-in"), Message("common.last-used"), Message("common.state"),
      ], times: signedIn.times, isOfPeople: true)
    table.rows = found.map { row($0, signedIn) }
    return table
  }

  private static func text(_ grant: Grant) -> Message {
    Message(
      "reports.role-and-scope",
      ["role": .message(grant.role.name), "scope": .message(grant.placeText)])
  }

  private func row(_ access: DormantAccess, _ signedIn: SignedIn) -> [ReportTable.Cell] {
    switch access.holder {
    case .administrator(let record):
      let who = record.administrator
      let state =
        access.lastUsedAt == nil
        ? Message("reports.never-signed-in") : Message("reports.dormant")
      return [
        .person(
          who.displayName, email: who.email, href: ConsolePaths.administrator(who.id.text)),
        .marked(
          who.grants.cell(until: record.grantEnds, signedIn.times),
          .value(.sequence(who.grants.map(Self.text)))),
        .dayOf(record.createdAt), .dayOf(record.lastSignInAt), .dayOf(access.lastUsedAt),
        .marked(Chip.look(state), state),
      ]
    case .invited(let invitation):
      let mayRevoke = signedIn.administrator.may(.manageAdministrators, in: nil)
      let state = Message("reports.invited")
      let href = mayRevoke ? ConsolePaths.invitationRemoval(invitation.id.text) : nil
      let ends = invitation.grantEndsAt.map { [invitation.grant: $0] } ?? [:]
      return [
        .person(invitation.displayName, email: invitation.email, href: href),
        .marked(
          [invitation.grant].cell(until: ends, signedIn.times), Self.text(invitation.grant)),
        .dayOf(invitation.createdAt), .dayOf(nil), .dayOf(nil),
        .marked(Chip.off(state), state),
      ]
    }
  }
}
