/// The support playbooks of a few pools.
enum DemoGuidance {
  /// Returns the versions of a pool's support playbook, oldest first; empty for most pools.
  static func versions(for pool: String) -> [String] {
    switch pool {
    case "retail": [retail, retail + also]
    case "clinic-north": [clinic]
    default: []
    }
  }

  private static let retail = """
    # Before you remove a factor

    1. Call back on the **number on file**. Don't use a number that the caller gives you.
    2. Ask for the branch and the month of the last statement.
    3. Add the ticket number to the note.

    Also report stolen phones to the *fraud desk*, extension 4711.

    What callers say, and what helps:

    - *The code is always wrong.* Have them set the phone's clock to automatic first.
    - *The phone is new, and the old one works.* Have them enroll again on their account page.
    - *The phone is gone.* Remove the factor with the reason “Lost device”.
    """

  private static let also = """


    ## Business customers

    They're in the tenant *business*. Only their own administrators call us, never an employee.
    """

  private static let clinic = """
    # Who can ask for a removal

    Nurses and doctors ask in person at their ward's support desk, with their badge. We don't remove
    anything over the phone.

    > Between 22:00 and 06:00, night support decides. Their schedule is posted in room 112.
    """
}
