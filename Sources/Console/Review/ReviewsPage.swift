import HTTP
import Identity
import Localization
import Templating

/// `/review`: lists the projects with their policies, exemptions, and last sign-offs.
struct ReviewsPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<ReviewsView>

  private static let length = 50
  /// The maximum number of exemptions on the page; the rest are on a page of their own.
  static let exemptions = 10

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let (administrator, query) = (signedIn.administrator, signedIn.query.trimmed("q"))
    let after = signedIn.query.text("after")
    let projects = try await refusing {
      try await identity.pools.projects(
        visibleTo: administrator, search: query.isEmpty ? nil : query, after: after,
        limit: Self.length)
    }
    let (standings, exemptions, differing) = try await refusing {
      (
        try await identity.reviews.standings(of: projects.items, visibleTo: administrator),
        try await identity.exemptions.list(visibleTo: administrator),
        try await identity.policies.differing(in: projects.items, visibleTo: administrator)
      )
    }
    let frame = frames.frame(Message("review.policy-review"), for: signedIn)
    let rows = projects.items.map { project in
      ReviewedProjectRow(
        project: project, standing: standings[project.id],
        exemptions: exemptions.count { $0.project == project.id },
        differing: standings[project.id] == nil
          ? nil : differing.first { $0.project == project.id }?.count ?? 0,
        times: signedIn.times)
    }
    return .html(
      view.render(
        ReviewsView(
          frame: FrameView(frame), rows: rows, exemptions: exemptions,
          mayFindUsers: administrator.maySomewhere(.findUsers), query: query,
          pager: PagerView(
            shown: Message("projects.count", ["count": .number(rows.count)]),
            path: ConsolePaths.reviews(), query: query.isEmpty ? [:] : ["q": query],
            after: after, next: projects.next))))
  }
}

struct ReviewsView: ViewModel {
  let frame: FrameView
  let rows: [ReviewedProjectRow]
  let exemptions: [Exemption]
  let mayFindUsers: Bool
  let query: String
  let pager: PagerView

  private var summary: Message {
    let standings = rows.compactMap(\.standing)
    let reviewed = standings.count { $0.state == .current }
    return Message(
      "review.projects-reviewed",
      ["reviewed": .number(reviewed), "count": .number(standings.count)])
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("summary") { $0.summary },
    .markup("symbols") { _ in WindowStrip.symbols },
    .flag("hasRows") { !$0.rows.isEmpty },
    .list(\.rows),
    .object("filter") {
      FilterView(
        action: ConsolePaths.reviews(), label: Message("projects.search"), query: $0.query)
    },
    .object(\.pager),
    .object("empty") { _ in
      EmptyView(heading: Message("review.empty"), sentence: Message("review.empty-hint"))
    },
    .flag(\.mayFindUsers),
    .text("exemptionCount") {
      Message("exemptions.count", ["count": .number($0.exemptions.count)])
    },
    .flag("hasExemptions") { !$0.exemptions.isEmpty },
    .object("exemptionTable") {
      ExemptionTable(Array($0.exemptions.prefix(ReviewsPage.exemptions)), $0.frame.times)
    },
    .text("allExemptions") { _ in ConsolePaths.exemptions() },
  ]
}

/// A project in the review of the instance.
struct ReviewedProjectRow: ViewModel {
  let project: ProjectSummary
  /// The state of its review; nil for administrators of some of its tenants.
  let standing: ReviewStanding?
  let exemptions: Int
  /// The number of tenants whose policy differs; nil without access to the project's policy.
  let differing: Int?
  let times: Times

  private var configuration: MFAConfiguration { MFAConfiguration(totp: project.totp) }

  static let keys: Keys<Self> = [
    .text("href") { ConsolePaths.review($0.project.id.text) },
    .text("name") { $0.project.displayName },
    .text("tenants") { Message("tenants.count", ["count": .number($0.project.tenants)]) },
    .markup("totp") { $0.standing == nil ? nil : $0.configuration.chip },
    .markup("window") { $0.standing == nil ? nil : WindowStrip.line($0.configuration) },
    .text("differing") { row in
      row.differing.map { Message("review.tenants-differ", ["count": .number($0)]) }
    },
    .markup("enrolled") { Meter.share($0.project.enrolledUsers, of: $0.project.users) },
    .text("users") {
      Message(
        "review.enrolled-of-users",
        [
          "enrolled": .number($0.project.enrolledUsers), "count": .number($0.project.users),
        ])
    },
    .text("exemptions") { row in
      row.exemptions == 0 ? Message.verbatim("–") : .value(.number(row.exemptions))
    },
    .text("exemptionsHref") { row in
      row.exemptions == 0
        ? nil : (["project": row.project.id.text] as Form).query(of: ConsolePaths.exemptions())
    },
    .markup("state") { $0.standing?.chip },
    .markup("sentence") { row in row.standing.map { $0.sentence(row.times) } },
  ]
}
