"""What other packages of the SDK share with popart."""
