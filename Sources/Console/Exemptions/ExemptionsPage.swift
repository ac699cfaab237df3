import HTTP
import Identity
import Localization
import Templating

/// `/exemptions`: lists the users who are exempt from MFA, in one project or in all of them.
struct ExemptionsPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<ExemptionsView>

  func show(_ signedIn: SignedIn) async throws -> Response {
    let query = ExemptionsQuery(signedIn.query)
    let found = try await identity.exemptions.list(
      in: query.project, visibleTo: signedIn.administrator)
    try await frames.identity.accounts.recordShown(
      DownloadedUsers(of: found), by: signedIn.author)
    let mayExport = found.contains {
      signedIn.administrator.may(.exportUsers, project: $0.project, tenant: $0.tenant)
    }
    let frame = await frames.frame(
      Message("Exemptions"), for: signedIn,
      crumbs: [Link(text: Message("Policy review"), href: ConsolePaths.reviews())])
    return .html(
      view.render(
        ExemptionsView(
          frame: FrameView(frame), table: ExemptionTable(found, signedIn.times),
          query: query, count: found.count,
          file: mayExport ? query.form.query(of: ConsolePaths.exemptionsFile()) : nil)))
  }
}

struct ExemptionsQuery: Sendable {
  let project: ID<Project>?

  init(_ query: Form) {
    let text = query.trimmed("project")
    project = text.isEmpty ? nil : ID(text)
  }

  var form: Form { project.map { ["project": $0.text] } ?? [:] }
}

struct ExemptionsView: ViewModel {
  let frame: FrameView
  let table: ExemptionTable
  let query: ExemptionsQuery
  let count: Int
  /// The address of the form that downloads the list; nil without the permission for any of it.
  let file: String?

  static let keys: Keys<Self> = [
    .object(\.frame),
    .object(\.table),
    .text("summary") {
      $0.count == 0
        ? nil
        : Message(
          one: "{count} user is exempt from MFA, until a set date.",
          other: "{count} users are exempt from MFA, each until a set date.",
          ["count": .number($0.count)])
    },
    .flag("hasRows") { $0.count > 0 },
    .text(\.file),
    .text("all") { $0.query.project == nil ? nil : ConsolePaths.exemptions() },
    .object("empty") { _ in
      EmptyView(
        heading: Message("No exemptions"),
        sentence: Message(
          "Exempting a user, on the user’s page, requires the {roles} role.",
          ["roles": Permission.protectUsers.roleNames]),
        more: Link(
          text: Message("How enforcement works"),
          href: ConsolePaths.guide(EnrollmentPattern.mandatory.rawValue)))
    },
  ]
}

extension ExemptionsPage {
  /// `/exemptions.csv`: the exemptions of the users whom the administrator can export, as CSV.
  func download(_ signedIn: SignedIn) async throws -> Response {
    let query = ExemptionsQuery(signedIn.query)
    return try await actions.download(
      in: signedIn, named: "exemptions", asking: Self.question(query),
      at: query.form.query(of: ConsolePaths.exemptionsFile())
    ) { () in
      let found = try await identity.exemptions.list(
        in: query.project, visibleTo: signedIn.administrator, for: .exportUsers)
      return (Self.file(found), DownloadedUsers(of: found), Message("Exemptions"))
    }
  }

  private static func file(_ exemptions: [Exemption]) -> CSV {
    var csv = CSV([
      "project", "tenant", "uid", "user", "enrolled", "reason", "note", "ticket", "granted at",
      "granted by", "ends at",
    ])
    for exemption in exemptions {
      csv.add([
        exemption.project.text, exemption.tenant?.text ?? "", exemption.account.text,
        exemption.label, exemption.isEnrolled ? "yes" : "no", exemption.reason.rawValue,
        exemption.note, exemption.ticket, exemption.grantedAt.rfc3339Milliseconds,
        exemption.grantorName, exemption.endsAt.rfc3339Milliseconds,
      ])
    }
    return csv
  }

  private static func question(_ query: ExemptionsQuery) -> FormPage {
    let list = query.form.query(of: ConsolePaths.exemptions())
    return FormPage(
      title: Message("Download exemptions?"),
      crumbs: [
        Link(text: Message("Policy review"), href: ConsolePaths.reviews()),
        Link(text: Message("Exemptions"), href: list),
      ],
      consequences: [
        Message(
          """
          The file contains the listed users’ email addresses and UIDs, with reasons, notes, and \
          tickets. It leaves out users whom you can’t export.
          """),
        Message("The download is recorded in the audit log of each user pool."),
      ], isQuestion: true, button: Message("Download as CSV"), back: list)
  }
}

enum ExemptionsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let page = try parts.page("exemptions/exemptions", ExemptionsPage.init)
    table.somewhere(ConsolePaths.exemptions, .get(.findUsers), page.show)
    table.somewhere(ConsolePaths.exemptionsFile, .performing(.exportUsers), page.download)
    table.add(EndExemption(identity: parts.identity), parts.actions)
  }
}

extension ConsolePaths {
  static let exemptions = Path("exemptions")
  static let exemptionsFile = Path("exemptions.csv")
}
