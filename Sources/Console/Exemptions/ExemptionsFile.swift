import HTTP
import Identity
import Localization
import Templating

/// `/exemptions.csv`: the exemptions of the users whom the administrator can export, as CSV.
struct ExemptionsFile: Sendable {
  let identity: Identity
  let actions: ActionForms

  func download(_ signedIn: SignedIn) async throws -> Response {
    let query = ExemptionsQuery(signedIn.query)
    let download = UserDownload(identity: identity, actions: actions)
    return try await download.response(
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
