import Identity
import Localization
import MailText

/// The administrators and pending invitations as a file, with a row for each role.
struct AdministratorsFile {
  private(set) var csv: CSV
  private let catalog: Catalog

  init(_ records: [AdministratorRecord], _ invitations: [Invitation], _ catalog: Catalog) {
    self.catalog = catalog
    csv = CSV(
      [
        Message("Administrator"), Message("Email"), Message("Role"),
        Message("Scope"), Message("Ends"),
        Message("Second factor"), Message("Last used"), Message("State"),
      ].map(catalog.text))
    for record in records { add(record) }
    for invitation in invitations {
      csv.add(
        [invitation.displayName, invitation.email]
          + texts(invitation.grant, until: invitation.grantEndsAt)
          + ["", "", catalog.text(Message("invited"))])
    }
  }

  private mutating func add(_ record: AdministratorRecord) {
    let who = record.administrator
    let grants: [Grant?] = who.grants.isEmpty ? [nil] : who.grants
    for grant in grants {
      csv.add(
        [who.displayName, who.email]
          + texts(grant, until: grant.flatMap { record.grantEnds[$0] })
          + [
            catalog.text(record.hasSecondFactor ? record.factorsText : Message("off")),
            record.lastUsedAt?.rfc3339Milliseconds ?? "", catalog.text(record.state.text),
          ])
    }
  }

  private func texts(_ grant: Grant?, until end: Instant?) -> [String] {
    [
      grant.map { catalog.text($0.role.title) } ?? "",
      grant.map { catalog.text($0.placeText) } ?? "", end?.rfc3339Milliseconds ?? "",
    ]
  }
}
