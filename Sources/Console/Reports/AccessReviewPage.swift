import HTTP
import Identity
import Localization
import MailText
import Templating

/// `/reports/access`: every role of every administrator, for a review of their access.
struct AccessReviewPage: Sendable {
  let reports: Reports
  let frames: Frames
  let view: Template<ReportView>

  private static let name = Report.access.name

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let grants = try await read()
    var frame = frames.frame(Self.name, for: signedIn)
    frame.crumbs = [Link(text: Message("reports.reports"), href: ConsolePaths.allReports())]
    let now = frames.clock.now()
    let dormant = grants.filter { $0.state(at: now) == .dormant }.administrators
    let content = ReportContent(
      summary: dormant == 0
        ? Message("reports.none-dormant", ["days": .number(AccessGrant.dormantDays)])
        : Message(
          "reports.dormant-count",
          ["count": .number(dormant), "days": .number(AccessGrant.dormantDays)]),
      table: table(grants, signedIn))
    return .html(
      view.render(
        ReportView(
          frame: FrameView(frame), title: Self.name, content: content,
          file: ConsolePaths.accessReviewFile(), emptiness: Message("reports.explain-access"))))
  }

  func download(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    table(try await read(), signedIn).csv(frames.catalog).response(named: "access-review")
  }

  private func read() async throws(Refusal) -> [AccessGrant] {
    try await refusing { try await reports.access() }
  }

  private func table(_ grants: [AccessGrant], _ signedIn: SignedIn) -> ReportTable {
    let now = frames.clock.now()
    var table = ReportTable(
      caption: Message("reports.explain-access"),
      columns: [
        Message("reports.administrator"), Message("common.role"), Message("reports.scope"),
        Message("reports.since"), Message("reports.granted-by"), Message("reports.ends"),
        Message("users.last-sign-in"), Message("common.last-used"),
        Message("common.second-factor"), Message("common.state"),
      ], times: signedIn.times, isOfPeople: true)
    table.rows = grants.map { access in
      let (record, who) = (access.record, access.record.administrator)
      let (state, chip) = Self.text(of: access.state(at: now))
      return [
        .person(
          who.displayName, email: who.email, href: ConsolePaths.administrator(who.id.text)),
        .text(access.grant.map(\.role.title) ?? Message("administrators.no-role")),
        .text(access.grant.map(\.placeText) ?? Message.verbatim("")),
        Self.since(access), Self.grantor(access),
        .moment(access.endsAt),
        .dayOf(record.lastSignInAt), .dayOf(access.lastUsedAt),
        .text(record.hasSecondFactor ? record.factorsText : Message("reports.no-factor")),
        .marked(chip, state),
      ]
    }
    return table
  }

  private static func since(_ access: AccessGrant) -> ReportTable.Cell {
    guard access.grant != nil else { return .text(.verbatim("")) }
    return access.since.map { .dayOf($0) } ?? .text(Message("reports.unknown"))
  }

  private static func grantor(_ access: AccessGrant) -> ReportTable.Cell {
    guard access.isFromProvider else { return .name(access.grantor ?? "") }
    return .text(
      access.grantor.map { Message("reports.named-provider", ["provider": .text($0)]) }
        ?? Message("reports.provider"))
  }

  private static func text(of state: AccessGrant.State) -> (text: Message, chip: Markup) {
    switch state {
    case .unusable:
      let text = Message("administrators.cant-sign-in")
      return (text, Chip.bad(text))
    case .withoutRole:
      let text = Message("administrators.without-role")
      return (text, Chip.look(text))
    case .dormant:
      let text = Message("reports.dormant")
      return (text, Chip.look(text))
    case .active:
      let text = Message("reports.active")
      return (text, Chip.on(text))
    }
  }
}
