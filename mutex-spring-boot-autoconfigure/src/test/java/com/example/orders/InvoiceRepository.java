package com.example.orders;

import org.springframework.data.jpa.repository.JpaRepository;

/**
 * The invoices.
 */
interface InvoiceRepository extends JpaRepository<Invoice, Long> {

	long countByBusinessDay(String businessDay);

}
