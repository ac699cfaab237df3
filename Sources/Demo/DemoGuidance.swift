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

    1. Call back on the **number on file**. Do not take the number that the caller gives.
    2. Ask for the branch and the month of the last statement.
    3. Write the ticket number into the note.

    Also report stolen phones to the *fraud desk*, extension 4711.

    What callers say, and what helps:

    - *The code is always wrong.* Let them set the phone's clock to automatic first.
    - *The phone is new, the old one works.* Let them enroll anew from their account page.
    - *The phone is gone.* Remove the factor, reason “lost”.
    """

  private static let also = """


    ## Business customers

    They are in the tenant *business*. Their own administrators call, never an employee.
    """

  private static let clinic = """
    # Who may ask for a removal

    Nurses and doctors ask in person at the support of their ward, with their badge. We remove nothing
    on the phone.

    > Between 22:00 and 06:00 the night support decides. Its rota hangs in room 112.
    """
}
