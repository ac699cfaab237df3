import HTTP
import Identity
import Localization
import Templating

/// `/exemptions`: lists the users who are exempt from MFA, in one project or in all of them.
struct ExemptionsPage: Sendable {
  let exemptions: Exemptions
  let frames: Frames
  let view: Template<ExemptionsView>

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let project = Self.project(signedIn)
    let found = try await list(project, signedIn)
    var frame = frames.frame(Message("common.exemptions"), for: signedIn)
    frame.crumbs = [Link(text: Message("review.policy-review"), href: ConsolePaths.reviews())]
    return .html(
      view.render(
        ExemptionsView(
          frame: FrameView(frame), table: ExemptionTable(found, signedIn.times),
          project: project, count: found.count)))
  }

  func download(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    var csv = CSV([
      "project", "tenant", "uid", "user", "enrolled", "reason", "note", "ticket", "granted at",
      "granted by", "ends at",
    ])
    for exemption in try await list(Self.project(signedIn), signedIn) {
      csv.add([
        exemption.project.text, exemption.tenant?.text ?? "", exemption.account.text,
        exemption.label, exemption.isEnrolled ? "yes" : "no", exemption.reason.rawValue,
        exemption.note, exemption.ticket, exemption.grantedAt.rfc3339Milliseconds,
        exemption.grantorName, exemption.endsAt.rfc3339Milliseconds,
      ])
    }
    return csv.response(named: "exemptions")
  }

  private func list(
    _ project: ID<Project>?, _ signedIn: SignedIn
  ) async throws(Refusal) -> [Exemption] {
    try await refusing {
      try await exemptions.list(in: project, visibleTo: signedIn.administrator)
    }
  }

  private static func project(_ signedIn: SignedIn) -> ID<Project>? {
    let text = signedIn.query.trimmed("project")
    return text.isEmpty ? nil : ID(text)
  }
}

struct ExemptionsView: ViewModel {
  let frame: FrameView
  let table: ExemptionTable
  let project: ID<Project>?
  let count: Int

  private var query: Form { project.map { ["project": $0.text] } ?? [:] }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .object(\.table),
    .text("summary") {
      $0.count == 0 ? nil : Message("exemptions.count", ["count": .number($0.count)])
    },
    .flag("hasRows") { $0.count > 0 },
    .text("csv") { $0.query.query(of: ConsolePaths.exemptionsFile()) },
    .text("all") { $0.project == nil ? nil : ConsolePaths.exemptions() },
    .object("empty") { _ in
      EmptyView(
        heading: Message("exemptions.none"),
        sentence: Message(
          "exemptions.none-hint", ["holder": .message(Permission.protectUsers.startingHolder)]))
    },
  ]
}

/// The table of exemptions, first to end first.
struct ExemptionTable: ViewModel {
  let rows: [ExemptionRow]

  init(_ exemptions: [Exemption], _ times: Times) {
    rows = exemptions.map { ExemptionRow(exemption: $0, times: times) }
  }

  static let keys: Keys<Self> = [.list(\.rows)]
}

struct ExemptionRow: ViewModel {
  let exemption: Exemption
  let times: Times

  static let keys: Keys<Self> = [
    .text("href") { $0.exemption.userAddress },
    .text("name") { $0.exemption.label },
    .markup("enrolled") {
      $0.exemption.isEnrolled ? Chip.on(Message("exemptions.enrolled")) : nil
    },
    .text("pool") { $0.exemption.poolName },
    .text("reason") { ExemptionText.reason($0.exemption) },
    .text("ticket") { $0.exemption.ticket.isEmpty ? nil : $0.exemption.ticket },
    .text("grantor") { $0.exemption.grantorName },
    .markup("ends") { $0.times.moment($0.exemption.endsAt) },
  ]
}

extension Exemption {
  /// The address of the user's page.
  var userAddress: String {
    tenant.map { ConsolePaths.user.ofTenant(project.text, $0.text, account.text) }
      ?? ConsolePaths.user.ofProject(project.text, account.text)
  }
}
